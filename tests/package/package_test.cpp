// SPDX-License-Identifier: Apache-2.0
//
// Modules built in separate trees, measured by the installed program: the example, and one whose benchmarks
// misbehave in every way we know; each must cost its own case and nothing else.

#include "cli/program.hpp"
#include "record/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace assay::cli_test {
namespace {

using record::Status;
using testing::HasSubstr;

const Options with_outside{.environment = {"ASSAY_MODULE_PATH=" OUTSIDE_MODULES}, .output = {}};

/// Everything in this module once, briefly; a hang is ended after three seconds.
constexpr auto suite = R"({
  "schema": "assay.suite/1", "name": "outside", "description": "Every way to misbehave.",
  "protocol": {"target": 0.1, "min_seconds": 0.02, "budget_seconds": 0.1, "limit_seconds": 3,
               "warmup_seconds": 0.02},
  "replicas": 1,
  "cases": [{"benchmark": "outside.crashes"}, {"benchmark": "outside.hangs"},
            {"benchmark": "outside.throws"}, {"benchmark": "outside.exits"},
            {"benchmark": "outside.greedy"}, {"benchmark": "outside.planted"},
            {"benchmark": "outside.blind"}, {"benchmark": "outside.idle"},
            {"benchmark": "example.polynomial",
             "parameters": {"degree": [8], "footprint": [1048576], "threads": ["one"]}}]
})";

std::filesystem::path result_below(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
        if (entry.path().filename() == "run.json") return entry.path();
    return {};
}

record::Run measure(const Folder& folder, const std::vector<std::string>& what) {
    std::vector<std::string> arguments{"run"};
    arguments.insert(arguments.end(), what.begin(), what.end());
    arguments.insert(arguments.end(), {"--out", (folder.path() / "out").string()});
    const auto outcome = run(arguments, with_outside);
    EXPECT_EQ(outcome.code, 1) << outcome.error;
    auto read = record::read_run(result_below(folder.path()));
    if (!read) {
        ADD_FAILURE() << read.error().message << outcome.error;
        return {};
    }
    return *std::move(read);
}

const record::Case& find(const record::Run& result, const std::string& id) {
    const auto found = std::ranges::find(result.cases, id, &record::Case::benchmark);
    if (found != result.cases.end()) return *found;
    ADD_FAILURE() << id << " was lost";
    static const record::Case none;
    return none;
}

TEST(Package, ListsAndDescribesAModuleOutside) {
    EXPECT_THAT(run({"list"}, with_outside).output, HasSubstr("example.polynomial"));
    EXPECT_THAT(run({"describe", "example.polynomial"}, with_outside).output,
                HasSubstr("How fast does this host evaluate a polynomial at many points?"));
}

TEST(Package, EveryWayToMisbehaveCostsItsOwnCase) {
    const Folder folder;
    const auto result = measure(folder, {folder.write("outside.json", suite).string()});
    EXPECT_EQ(result.cases.size(), 9U);

    EXPECT_EQ(find(result, "outside.crashes").status, Status::crashed);
    EXPECT_THAT(find(result, "outside.crashes").reason, HasSubstr("SIGSEGV"));
    EXPECT_EQ(find(result, "outside.hangs").status, Status::timed_out);
    EXPECT_EQ(find(result, "outside.throws").status, Status::failed);
    EXPECT_THAT(find(result, "outside.throws").reason, HasSubstr("the planted exception"));
    EXPECT_EQ(find(result, "outside.exits").status, Status::crashed);
    EXPECT_EQ(find(result, "outside.greedy").status, Status::failed);
    for (const auto* id : {"outside.planted", "outside.blind", "outside.idle"}) {
        EXPECT_EQ(find(result, id).status, Status::incorrect) << id << find(result, id).reason;
        EXPECT_TRUE(find(result, id).metrics.empty()) << id << " shows a rate";
    }

    const auto& good = find(result, "example.polynomial");
    EXPECT_TRUE(record::is_measured(good.status)) << good.reason;
    ASSERT_FALSE(good.metrics.empty());
    EXPECT_EQ(good.metrics.front().name, "flop_rate");
}

TEST(Package, AnotherInterfaceVersionIsRefusedWithBothNumbers) {
    const Folder folder;
    const auto outcome = run({"manifest", OUTSIDE_MODULES "/wrong_version.so", "--out",
                              (folder.path() / "wrong_version.json").string()});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr("interface 99, this assay has 1"));
}

} // namespace
} // namespace assay::cli_test
