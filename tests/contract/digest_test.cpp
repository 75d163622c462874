// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks with a digest compute the same bits in every call, and those that say so (Info::reproducible) in every
// process: tried with calls, and with a second process.

#include "prepared.hpp"

#include <assay/digest.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::contract {
namespace {

using Hashes = std::vector<std::uint64_t>;

/// One state of a case.
class State : public Prepared {
public:
    State(const assay_benchmark& benchmark, const FakeProgram& program, const Case& values)
        : Prepared{benchmark, program, values}, benchmark_{benchmark} {}

    Hashes computed() {
        if (!*this) return {};
        run(1);
        return hashes();
    }
    Hashes hashes() {
        Hashes found(ASSAY_MOST_BLOCKS);
        assay_digest to{};
        to.struct_size = sizeof to;
        to.hashes = found.data();
        to.capacity = found.size();
        EXPECT_EQ(benchmark_.digest(state(), &to, text_.get()), 0) << text_.str();
        EXPECT_GE(to.count, 1U);
        found.resize(to.count);
        return found;
    }
    /// Contents of the block, as a soak fetches them to say what differs.
    std::vector<std::byte> bytes_of(std::size_t block) {
        assay_digest to{};
        to.struct_size = sizeof to;
        to.wanted = block;
        EXPECT_EQ(benchmark_.digest(state(), &to, text_.get()), 0) << text_.str();
        std::vector<std::byte> bytes(to.byte_count);
        to.bytes = bytes.data();
        to.byte_capacity = bytes.size();
        EXPECT_EQ(benchmark_.digest(state(), &to, text_.get()), 0) << text_.str();
        return bytes;
    }

private:
    const assay_benchmark& benchmark_;
    Text text_;
};

/// Few: every kernel, and the sizes of tests.
std::vector<Case> fitting_of(const assay_benchmark& benchmark, const FakeProgram& program) {
    std::vector<Case> fitting;
    for (const auto& values : small_cases(benchmark))
        if (variables_of(benchmark, values).empty() && misfit(benchmark, program, values).empty())
            fitting.push_back(values);
    return fewest(fitting);
}

bool is_tried(const Loaded& loaded) {
    return loaded.benchmark != nullptr && loaded.benchmark->digest != nullptr &&
           (loaded.benchmark->flags & ASSAY_TEAM) == 0;
}

constexpr const char* mark = "REPRODUCED ";

bool says_so(const Loaded& loaded) {
    return is_tried(loaded) && (loaded.benchmark->flags & ASSAY_REPRODUCIBLE) != 0;
}

/// The text of each case by its name.
using Reproduced = std::map<std::string, std::string>;

std::string to_text(const Hashes& hashes) {
    std::string text;
    for (const auto hash : hashes) text += std::to_string(hash) + ',';
    return text;
}

/// Results of the reproducible ones in a second process, which begins when this is made.
class SecondProcess {
public:
    SecondProcess() {
        const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
        const auto command =
            "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX ASSAY_SAY_DIGESTS=1 '" + self +
            "' --gtest_filter=Digests.AreSaid";
        pipe_ = ::popen(command.c_str(), "r");
    }
    Reproduced results() {
        Reproduced there;
        if (pipe_ == nullptr) return there;
        std::string output;
        std::array<char, 4096> piece{};
        for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe_)) > 0;)
            output.append(piece.data(), got);
        EXPECT_EQ(::pclose(pipe_), 0) << output;
        for (auto at = output.find(mark); at != std::string::npos; at = output.find(mark, at)) {
            at += std::string_view{mark}.size();
            const auto tab = output.find('\t', at);
            const auto end = output.find('\n', tab);
            EXPECT_NE(end, std::string::npos);
            there[output.substr(at, tab - at)] = output.substr(tab + 1, end - tab - 1);
        }
        return there;
    }

private:
    std::FILE* pipe_ = nullptr;
};

} // namespace

TEST(Digests, EveryCallGivesTheSameBitsAndAnotherProcessToo) {
    if (std::ranges::none_of(every_benchmark(), is_tried)) GTEST_SKIP() << "no digest here";
    std::optional<SecondProcess> second;
    if (std::ranges::any_of(every_benchmark(), says_so)) second.emplace();
    FakeProgram program;
    Reproduced here;
    std::size_t tried = 0;
    for (const auto& loaded : every_benchmark()) {
        if (!is_tried(loaded)) continue;
        for (const auto& values : fitting_of(*loaded.benchmark, program)) {
            const auto name = loaded.name + ' ' + describe(*loaded.benchmark, values);
            SCOPED_TRACE(name);
            State state{*loaded.benchmark, program, values};
            const auto right = state.computed();
            for (int i = 0; i < 5; ++i) EXPECT_EQ(state.computed(), right);
            // Wherever a result is and whoever hashes it: these are its bytes.
            for (const std::size_t block : {std::size_t{0}, right.size() - 1}) {
                const auto bytes = state.bytes_of(block);
                EXPECT_EQ(assay::detail::hash_of(bytes.data(), bytes.size()), right[block]);
            }
            state.poison();
            EXPECT_NE(state.hashes(), right) << "the digest leaves out what is computed";
            EXPECT_EQ(state.computed(), right);
            if (says_so(loaded)) here[name] = to_text(right);
            ++tried;
        }
    }
    EXPECT_GT(tried, 0U);
    if (!second) return;
    EXPECT_FALSE(here.empty());
    EXPECT_EQ(second->results(), here);
}

/// Run in a second process by the one above.
TEST(Digests, AreSaid) {
    if (std::getenv("ASSAY_SAY_DIGESTS") == nullptr) GTEST_SKIP() << "for the second process";
    FakeProgram program;
    for (const auto& loaded : every_benchmark()) {
        if (!says_so(loaded)) continue;
        for (const auto& values : fitting_of(*loaded.benchmark, program))
            std::printf("%s%s %s\t%s\n", mark, loaded.name.c_str(),
                        describe(*loaded.benchmark, values).c_str(),
                        to_text(State{*loaded.benchmark, program, values}.computed()).c_str());
    }
}

} // namespace assay::contract
