// SPDX-License-Identifier: Apache-2.0
#include "plan/groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using testing::ElementsAre;
using testing::HasSubstr;

std::string problem(const std::string& text) {
    const auto groups = parse_groups(text, "groups");
    return groups ? "" : groups.error().message;
}

TEST(Groups, AreReadFromLinesOfHosts) {
    const auto groups = parse_groups("# leaf switches\nh1,h2 switch=leaf1\trail=0\r\n\n"
                                     "h3 switch=leaf2 # alone\nh1 rack=b7",
                                     "groups");
    ASSERT_TRUE(groups) << groups.error().message;
    ASSERT_EQ(groups->size(), 3U);
    EXPECT_EQ((*groups)[0].host, "h1");
    EXPECT_THAT((*groups)[0].groups,
                ElementsAre(Group{"switch", "leaf1"}, Group{"rail", "0"}, Group{"rack", "b7"}));
    EXPECT_THAT((*groups)[2].groups, ElementsAre(Group{"switch", "leaf2"}));
    EXPECT_EQ(group_line("switch:leaf1=h1,h2").value(), "h1,h2 switch=leaf1");
}

TEST(Groups, WhatIsWrongIsSaidWithItsLine) {
    EXPECT_THAT(problem(""), HasSubstr("groups names no group"));
    EXPECT_THAT(problem("h1"), HasSubstr("groups:1: h1 is in no group"));
    EXPECT_THAT(problem("h1 switch"), HasSubstr("\"switch\" should be KIND=NAME"));
    EXPECT_THAT(problem("h1 Switch=a"), HasSubstr("should be KIND=NAME"));
    EXPECT_THAT(problem("h1 switch=-"), HasSubstr("should be KIND=NAME"));
    EXPECT_THAT(problem("h1 switch=a\nh2,h1 switch=b"),
                HasSubstr("groups:2: h1 is in two groups of the kind switch: a and b"));
    EXPECT_THAT(problem("-x switch=a"), HasSubstr("groups:1: "));
    EXPECT_THAT(problem("h1 a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1"), HasSubstr("more than 8 kinds"));
    EXPECT_FALSE(group_line("switch=leaf1"));
    EXPECT_FALSE(group_line("switch:leaf1"));
}

TEST(Groups, NeighboursStandNextToEachOther) {
    const std::vector<Host> hosts{{"h1", 1}, {"h2", 1}, {"h3", 1}, {"h4", 1}, {"h5", 1}};
    const auto groups =
        parse_groups("h2,h5 switch=a\nh1,h4 switch=b\nh1,h2 rack=r1\nh9 switch=c", "groups");
    ASSERT_TRUE(groups) << groups.error().message;
    const auto sorted = in_groups(hosts, *groups);
    ASSERT_TRUE(sorted) << sorted.error().message;
    std::vector<std::string> names;
    std::vector<std::vector<Group>> of_hosts;
    for (const auto& host : *sorted) {
        names.push_back(host.name);
        of_hosts.push_back(host.groups);
    }
    EXPECT_THAT(names, ElementsAre("h5", "h2", "h4", "h1", "h3"));
    EXPECT_THAT(kinds_of(of_hosts), ElementsAre("rack", "switch"));
    EXPECT_EQ(words_of_kind(of_hosts, "switch"), "a a b b -");
    EXPECT_EQ(words_of_kind(of_hosts, "rack"), "- r1 - r1 -");
    EXPECT_EQ(in_groups(hosts, {}).value(), hosts) << "without groups nothing moves";
    const auto others = parse_groups("n1 switch=a", "groups");
    EXPECT_THAT(in_groups(hosts, *others).error().message, HasSubstr("none of the 5 hosts"));
}

TEST(FabricCost, IsSaidForAThousandHostsBeforeTheyWait) {
    Benchmark benchmark{.id = "collective.fabric"};
    PlannedCase planned{
        .benchmark = &benchmark,
        .parameters = {{"ranks", std::string{"per_node"}}, {"random", std::int64_t{8}}}};
    Job job;
    EXPECT_EQ(fabric_cost(planned, job), "");
    for (int i = 0; i < 1000; ++i) job.hosts.push_back({.name = "n" + std::to_string(i)});
    EXPECT_THAT(fabric_cost(planned, job),
                testing::AllOf(HasSubstr("18 rounds of 500 pairs"),
                               HasSubstr("9000 of 499500 pairs (1.8%)"), HasSubstr("up to 320")));
    job.hosts.resize(6);
    EXPECT_THAT(fabric_cost(planned, job), testing::AllOf(HasSubstr("5 rounds of 3 pairs"),
                                                          HasSubstr("15 of 15 pairs (100%)")));
    planned.parameters.pop_back();
    EXPECT_EQ(fabric_cost(planned, job), "") << "no rounds of random partners";
}

} // namespace
