// SPDX-License-Identifier: Apache-2.0
//
// A run that ends with a verdict, in a folder where others are.

#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace assay;
using cli_test::Folder;
using cli_test::run;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::filesystem::path result_below(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
        if (entry.path().filename() == "run.json") return entry.path();
    return {};
}

/// What was measured before adds up, and what others left in the folder does not take part.
TEST(Check, CountsAllRunsOfThisMachine) {
    const Folder folder;
    const auto limits = folder.write("limits.json", R"({"schema": "assay.limits/1", "name": "ours",
        "limits": [{"id": "fma", "title": "FMA", "kind": "contract", "case": {"benchmark": "peak.fma"},
        "unit": "FLOP/s", "at_least": 1e6, "source": "ours"}]})");
    std::vector<std::string> arguments{"run",        "peak.fma",
                                       "--set",      "peak.fma.threads=one",
                                       "--set",      "peak.fma.precision=fp64",
                                       "--replicas", "2",
                                       "--budget",   "1s",
                                       "--out",      folder.path()};
    ASSERT_EQ(run(arguments).code, 0);
    arguments.insert(arguments.end(), {"--check", "--limits", limits});
    const auto good = run(arguments);
    EXPECT_EQ(good.code, 0) << good.output << good.error;
    EXPECT_THAT(good.output, HasSubstr("PASS: "));

    const auto first = result_below(folder.path());
    std::ostringstream text;
    text << std::ifstream{first}.rdbuf();
    auto changed = text.str();
    const std::string_view key = "\"kernel\": \"";
    changed.insert(changed.find(key) + key.size(), "x");
    const auto others = folder.path() / "baseline/host/unknown/0123456789abcdef/one";
    std::filesystem::create_directories(others);
    std::ofstream{others / "run.json"} << changed;
    EXPECT_EQ(run(arguments).code, 0) << "of another machine";
    std::ofstream{first} << changed;
    const auto open = run(arguments);
    EXPECT_EQ(open.code, 3) << open.error;
    EXPECT_THAT(open.output, AllOf(HasSubstr("INCONCLUSIVE: "), HasSubstr("1 file is not used: "),
                                   HasSubstr("machine does not match its digest")));
}

} // namespace
