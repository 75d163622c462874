// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "json/json.hpp"
#include "plan/manifest.hpp"
#include "support/catalogue_maker.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using harness::made::TemporaryFolder;
using ::testing::HasSubstr;

Manifest sample() {
    auto benchmark = harness::made::benchmark(
        "memory.copy", "bandwidth",
        {harness::made::threads(),
         harness::made::choice("kernel", {"a", "b"}, {std::string{"b"}}),
         {.name = "share",
          .kind = ParameterKind::real,
          .help = "a share",
          .real_low = 0,
          .real_high = 1,
          .defaults = {0.25, 1.0}},
         {.name = "cold", .kind = ParameterKind::boolean, .help = "a flag", .defaults = {true}},
         {.name = "path",
          .kind = ParameterKind::text,
          .help = "a file",
          .defaults = {std::string{}}}});
    benchmark.parameters[1].variables = {{"a", "LIBRARY_KERNEL", "plain"}};
    benchmark.safe_calls = std::numeric_limits<std::uint64_t>::max();
    benchmark.bound = BoundBy::memory;
    auto manifest = harness::made::manifest("host", {benchmark});
    manifest.tunings = {{"OPENBLAS_CORETYPE", "Zen", "avx2 fma"}};
    return manifest;
}

TEST(Manifest, ReadsBackAsItWasWritten) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "host.json";
    const auto manifest = sample();
    ASSERT_TRUE(check_manifest(manifest)) << check_manifest(manifest).error().message;
    ASSERT_TRUE(write_manifest(manifest, path));
    const auto back = read_manifest(path);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->library, folder.path() / "host.so") << "beside the manifest, wherever that is";
    EXPECT_EQ(back->tunings.at(0).requires_isa, "avx2 fma");
    const auto& benchmark = back->benchmarks.at(0);
    EXPECT_EQ(benchmark.safe_calls, manifest.benchmarks[0].safe_calls);
    EXPECT_EQ(benchmark.bound, BoundBy::memory);
    ASSERT_EQ(benchmark.parameters.size(), 5U);
    EXPECT_EQ(benchmark.parameters[1].variables.at(0).setting, "plain");
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(benchmark.parameters[i].defaults, manifest.benchmarks[0].parameters[i].defaults);
}

struct Damage {
    const char* expected;
    std::function<void(Manifest&)> apply;
};

TEST(Manifest, WhatTheProgramRelyOnIsChecked) {
    const std::vector<Damage> damages{
        {"module name", [](Manifest& m) { m.module = "Host!"; }},
        {"its metric \"speed\" is not in the table",
         [](Manifest& m) { m.benchmarks[0].metrics = "speed=s"; }},
        {"is in s, not in \"ms\"",
         [](Manifest& m) { m.benchmarks[0].metrics = "time=s latency=ms"; }},
        {"is no name of a package",
         [](Manifest& m) { m.benchmarks[0].packages = "fio --force-yes"; }},
        {"no benchmark", [](Manifest& m) { m.benchmarks.clear(); }},
        {"build id", [](Manifest& m) { m.build_id.clear(); }},
        {"its bound matrix_units is none of its headline",
         [](Manifest& m) { m.benchmarks[0].bound = BoundBy::matrix_units; }},
        {"<family>.<name>", [](Manifest& m) { m.benchmarks[0].id = "memory"; }},
        {"<family>.<name>", [](Manifest& m) { m.benchmarks[0].id = "memory.copy.fast"; }},
        {"<family>.<name>", [](Manifest& m) { m.benchmarks[0].id = "../etc"; }},
        {"twice", [](Manifest& m) { m.benchmarks.push_back(m.benchmarks[0]); }},
        {"table of metrics", [](Manifest& m) { m.benchmarks[0].headline = "speed"; }},
        {"question is empty", [](Manifest& m) { m.benchmarks[0].question.clear(); }},
        {"control characters", [](Manifest& m) { m.benchmarks[0].method = "\x1b[2J"; }},
        {"twice",
         [](Manifest& m) {
             m.benchmarks[0].parameters[1].name = m.benchmarks[0].parameters[0].name;
         }},
        {"no default", [](Manifest& m) { m.benchmarks[0].parameters[0].defaults.clear(); }},
        {"out of range",
         [](Manifest& m) { m.benchmarks[0].parameters[0].defaults = {std::int64_t{0}}; }},
        {"out of range",
         [](Manifest& m) { m.benchmarks[0].parameters[2].defaults = {std::nan("")}; }},
        {"out of range", [](Manifest& m) { m.benchmarks[0].parameters[3].defaults = {1.0}; }},
        {"upper end", [](Manifest& m) { m.benchmarks[0].parameters[0].integer_low = 5000; }},
        {"ranks", [](Manifest& m) { m.benchmarks[0].team = true; }},
        {"may not set LD_PRELOAD",
         [](Manifest& m) { m.benchmarks[0].parameters[1].variables[0].name = "LD_PRELOAD"; }},
        {"did you mean \"flop_rate\"?); `assay list --metrics`",
         [](Manifest& m) { m.benchmarks[0].headline = "flop_rte"; }},
        {"should be ID or ID:PARAMETER=VALUE",
         [](Manifest& m) { m.benchmarks[0].ceiling = "peak.fma:precision"; }},
        {"should be ID or ID:PARAMETER=VALUE",
         [](Manifest& m) { m.benchmarks[0].ceiling = "peak.fma:=fp32"; }},
        {"as in keys", [](Manifest& m) { m.benchmarks[0].items = "a b"; }},
        {"not a valid name",
         [](Manifest& m) { m.benchmarks[0].parameters[1].variables[0].name = "A=B"; }},
        {"not one of its values",
         [](Manifest& m) { m.benchmarks[0].parameters[1].variables[0].value = "c"; }},
    };
    for (const auto& damage : damages) {
        auto manifest = sample();
        damage.apply(manifest);
        const auto checked = check_manifest(manifest);
        ASSERT_FALSE(checked) << damage.expected;
        EXPECT_THAT(checked.error().message, HasSubstr(damage.expected));
    }
}

TEST(Manifest, EveryTruncationAndEveryMissingKeyIsAnError) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "host.json";
    ASSERT_TRUE(write_manifest(sample(), path));
    const auto text = *read_whole(path, 1U << 20U);
    for (std::size_t length = 0; length + 1 < text.size(); length += 7)
        EXPECT_FALSE(read_manifest(folder.write("cut.json", text.substr(0, length)))) << length;
    const auto whole = *json::parse(text, "host.json");
    for (const auto& item : whole.items()) {
        if (item.key() == "path_variable") continue; // of a module that needs one
        auto less = whole;
        less.erase(item.key());
        EXPECT_FALSE(read_manifest(folder.write("less.json", json::to_text(less)))) << item.key();
    }
    for (const auto& item : whole["benchmarks"][0].items()) {
        static const std::set<std::string> later{"bound",      "items",   "reproducible",
                                                 "long_calls", "metrics", "packages"};
        if (later.contains(item.key())) continue; // manifests from before there were any have none
        auto less = whole;
        less["benchmarks"][0].erase(item.key());
        EXPECT_FALSE(read_manifest(folder.write("less.json", json::to_text(less)))) << item.key();
    }
}

TEST(Manifest, SendsNobodyToALibraryElsewhere) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "host.json";
    ASSERT_TRUE(write_manifest(sample(), path));
    auto value = *json::read_file(path);
    for (const char* library : {"../evil.so", "/tmp/evil.so", "", "x/"}) {
        value["library"] = library;
        EXPECT_FALSE(read_manifest(folder.write("host.json", json::to_text(value)))) << library;
    }
}

} // namespace
