// SPDX-License-Identifier: Apache-2.0
#include "gpu/archive.hpp"
#include "gpu/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace assay::gpu {
namespace {

using testing::ElementsAre;

TEST(GpuArchive, IsPaddedAndEnds) {
    const auto tar = tar_of({{"a.txt", "hello", Rank::log}, {"b.txt", "", Rank::log}});
    ASSERT_EQ(tar.size(), 512U * 5); // two headers, one block, two of zeros
    EXPECT_EQ(tar.substr(0, 6), std::string("a.txt\0", 6));
    EXPECT_EQ(tar.substr(124, 11), "00000000005");
    EXPECT_EQ(tar.substr(257, 5), "ustar");
    EXPECT_EQ(tar.substr(512, 5), "hello");
    EXPECT_EQ(tar.substr(1024, 5), "b.txt");
}

TEST(GpuArchive, WhatHasNoRoomIsNamedAndTheReportComesFirst) {
    Archive archive{"unused.tar", std::size_t{8} * 512};
    archive.put({"log", std::string(600, 'x'), Rank::log});
    archive.put({"run.json", std::string(600, 'x'), Rank::result});
    EXPECT_THAT(archive.left_out(), ElementsAre());
    archive.put({"report", "x", Rank::report});
    EXPECT_THAT(archive.left_out(), ElementsAre("log"));
    archive.drop("run.json");
    EXPECT_THAT(archive.left_out(), ElementsAre());
}

TEST(GpuArchive, ALongLogKeepsItsEnds) {
    EXPECT_EQ(shortened_log("short", 10), "short");
    EXPECT_EQ(shortened_log("abcdefghijkl", 4), "ab\n... 8 bytes are left out ...\nkl");
}

TEST(GpuSteps, EveryStepBelongsToAPartAndHasItsOwnName) {
    const Tree tree{.assay = "/a", .contract = "/c", .modules = "/m", .data = "/d"};
    const std::vector<Tried> tried{
        {"peak.tensor", "cuda"}, {"memory.stream", "cuda"}, {"gemm.square", "cublaslt"}};
    for (const auto* name : {"first", "sanitizer", "long"}) {
        const auto plan = plan_of(name, tree, tried, "0");
        std::set<std::string_view> parts;
        double last = 0;
        for (const auto& part : plan.parts) {
            EXPECT_GT(part.until, last);
            last = part.until;
            parts.insert(part.name);
        }
        EXPECT_EQ(last, 1);
        std::set<std::string> names;
        for (const auto& step : plan.steps) {
            EXPECT_TRUE(parts.contains(step.part)) << step.part;
            EXPECT_TRUE(names.insert(step.part + step.name).second) << step.name;
            EXPECT_NE(step.read, nullptr);
            EXPECT_GT(step.seconds, 0);
        }
    }
    const auto first = plan_of("first", tree, tried, "0");
    const auto contract = std::ranges::find(first.steps, "contract", &Step::part);
    ASSERT_NE(contract, first.steps.end());
    EXPECT_EQ(contract->name, "memory.stream[cuda]") << "it proves the clock";
}

} // namespace
} // namespace assay::gpu
