// SPDX-License-Identifier: Apache-2.0
//
// Every number of every JSON file of a bundle is changed in turn: it is found by the digests, and where somebody made all
// digests again, by computing the figures once more, as far as they follow from something.

#include "exchange/bundle_check.hpp"
#include "exchange/bundle_files.hpp"
#include "exchange/derived.hpp"
#include "record/convert.hpp"
#include "small.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

using namespace evidence_test;
using testing::IsEmpty;
using testing::IsSubsetOf;

#if defined(__SANITIZE_ADDRESS__)
// A number takes a fifth of a second; `scripts/test --all` tries all.
constexpr std::size_t every = 4;
#else
constexpr std::size_t every = 1;
#endif

/// Where numbers stand in JSON text, of which every nth is wanted: first byte and length.
std::vector<std::pair<std::size_t, std::size_t>> numbers_in(const std::string& text) {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    bool quoted = false;
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '\\') {
            ++i;
            continue;
        }
        if (text[i] == '"') quoted = !quoted;
        if (quoted || (std::isdigit(static_cast<unsigned char>(text[i])) == 0 && text[i] != '-'))
            continue;
        const auto end = std::min(text.find_first_not_of("+-.eE0123456789", i), text.size());
        if (count++ % every == 0) found.emplace_back(i, end - i);
        i = end - 1;
    }
    return found;
}

/// Another number: 3 for 1, 1.7e-3 for 0.7e-3.
std::string flipped(std::string number) {
    auto& digit = number[number.front() == '-' ? 1 : 0];
    if (digit == '0' && number.size() == 1) return "7";
    digit = digit == '0' ? '3' : static_cast<char>('1' + (digit - '0' + 1) % 9);
    if (digit == '0') digit = '5';
    return number;
}

std::vector<std::string> json_files(const fs::path& bundle) {
    std::vector<std::string> names;
    for (const auto& path : paths_in(bundle))
        if (path.ends_with(".json")) names.push_back(path);
    return names;
}

TEST(EvidenceFlip, EveryNumberIsFoundByItsDigest) {
    const Small small{small_soak()};
    ASSERT_TRUE(small.make());
    ASSERT_THAT(check_bundle(small.bundle(), {})->findings, IsEmpty());
    std::size_t flips = 0;
    std::vector<std::string> missed;
    for (const auto& name : json_files(small.bundle())) {
        const auto path = small.bundle() / name;
        const auto before = content(path);
        for (const auto& [at, length] : numbers_in(before)) {
            auto after = before;
            after.replace(at, length, flipped(before.substr(at, length)));
            ASSERT_NE(after, before);
            small.folder.write("bundle/" + name, after);
            const auto checked = check_bundle(small.bundle(), {});
            ++flips;
            if (checked && checked->findings.empty())
                missed.push_back(name + ": " + before.substr(at, 40));
        }
        small.folder.write("bundle/" + name, before);
    }
    EXPECT_THAT(missed, IsEmpty());
    EXPECT_GT(flips, 100U / every) << "a test that flips nothing passes for ever";
    EXPECT_THAT(check_bundle(small.bundle(), {})->findings, IsEmpty()) << "all is as it was";
    RecordProperty("flips", static_cast<int>(flips));
}

TEST(EvidenceFlip, EveryByteIsFoundByItsDigest) {
    const Small small;
    ASSERT_TRUE(small.make());
    for (const auto& name : paths_in(small.bundle())) {
        const auto before = content(small.bundle() / name);
        const auto step = before.size() / 8 + 1;
        for (std::size_t i = 0; i < before.size(); i += step) {
            auto after = before;
            after[i] = static_cast<char>(after[i] ^ 1);
            small.folder.write("bundle/" + name, after);
            const auto checked = check_bundle(small.bundle(), {});
            EXPECT_FALSE(checked && checked->findings.empty()) << name << " byte " << i;
        }
        small.folder.write("bundle/" + name, before);
    }
    EXPECT_THAT(check_bundle(small.bundle(), {})->findings, IsEmpty()) << "all is as it was";
}

/// Digests and verdict as if they had always been so.
void make_again(const Small& small, bool derived) {
    if (derived) {
        const auto verdict = verdict_of_bundle(small.bundle(), small.options.created);
        if (!verdict) return; // no bundle comes of that
        small.folder.write("bundle/verdict.json", json::to_text(*verdict));
    }
    ASSERT_TRUE(write_manifest(small.bundle()));
}

/// Whoever has no key to sign with, and all the rest.
TEST(EvidenceFlip, WhatFollowsFromSomethingIsFoundWithoutDigests) {
    const Small small{small_soak()};
    ASSERT_TRUE(small.make());
    harness::made::TemporaryFolder kept;
    fs::copy(small.bundle(), kept.path() / "bundle", fs::copy_options::recursive);
    const auto restore = [&] {
        fs::remove_all(small.bundle());
        fs::copy(kept.path() / "bundle", small.bundle(), fs::copy_options::recursive);
    };
    std::map<std::string, std::pair<std::size_t, std::size_t>> found; // of, by file
    std::set<std::string> kept_figures; // keys of figures whose change nobody finds
    for (const auto& name : json_files(small.bundle())) {
        const bool result = is_result(name);
        const auto before = content(small.bundle() / name);
        const auto places = numbers_in(before);
        for (const auto& [at, length] : places) {
            auto after = before;
            after.replace(at, length, flipped(before.substr(at, length)));
            if (result) {
                auto document = json::parse(after, name).value();
                document["digests"] = json::encode(record::digests_of(document));
                after = json::to_text(document);
            }
            small.folder.write("bundle/" + name, after);
            make_again(small, result);
            const auto checked = check_bundle(small.bundle(), {});
            auto& [noticed, all] = found[name];
            ++all;
            if (!checked || !checked->findings.empty()) {
                ++noticed;
            } else if (result) {
                const auto quote = before.rfind('"', at);
                kept_figures.insert(before.substr(before.rfind('"', quote - 1) + 1,
                                                  quote - before.rfind('"', quote - 1) - 1));
            }
            restore();
        }
    }
    const auto& [noticed, all] = found["results/0001/run.json"];
    RecordProperty("found", static_cast<int>(noticed));
    RecordProperty("of", static_cast<int>(all));
    EXPECT_GE(3 * noticed, 2 * all - all / 5) << noticed << " of " << all;
    // What was counted, set or read once, as how long a soak took: nothing else in the file says it again.
    const std::vector<std::string> said_once{
        "asked_seconds", "batches",      "bound",          "bytes",        "calls",
        "core_clock_hz", "cores",        "count",          "disturbed",    "error",
        "index",         "level",        "line_bytes",     "memory_bytes", "memory_limit_bytes",
        "numa_nodes",    "seconds",      "setup_seconds",  "size",         "sockets",
        "threads",       "usable_cores", "usable_threads", "version",      "warmup_seconds",
        "window_seconds"};
    EXPECT_THAT(kept_figures, IsSubsetOf(said_once));
    EXPECT_GE(kept_figures.size() * every, said_once.size());
    EXPECT_EQ(found[verdict_file].first, found[verdict_file].second);
}

} // namespace
} // namespace assay::report
