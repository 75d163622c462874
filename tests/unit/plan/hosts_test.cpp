// SPDX-License-Identifier: Apache-2.0
//
// The hosts of a team, as people write them.

#include "plan/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Hosts, AreReadFromTheCommandLine) {
    const auto hosts = parse_hosts("h1:2,h2.example.org,10.0.0.3:64");
    ASSERT_TRUE(hosts) << hosts.error().message;
    EXPECT_THAT(*hosts,
                ElementsAre(Host{"h1", 2}, Host{"h2.example.org", 0}, Host{"10.0.0.3", 64}));
    for (const char* wrong :
         {"", "h1,", "-x:1", "h1:0", "h1:x", "h1:9999", "h1:2,h1:2", "a b", "h1:2:3", "$(reboot)"})
        EXPECT_FALSE(parse_hosts(wrong)) << wrong;
}

std::string named(std::string_view text) {
    const auto hosts = parse_hosts(text);
    if (!hosts) return hosts.error().message;
    std::string names;
    for (const auto& host : *hosts)
        names += (names.empty() ? "" : " ") + host.name +
                 (host.slots == 0 ? "" : ":" + std::to_string(host.slots));
    return names;
}

TEST(Hosts, HaveRangesAsInSlurm) {
    EXPECT_EQ(named("node[08-11]"), "node08 node09 node10 node11");
    EXPECT_EQ(named("node[1-3,7]:2,gpu5"), "node1:2 node2:2 node3:2 node7:2 gpu5");
    EXPECT_EQ(named("r[1-2]n[01,3].example.org"),
              "r1n01.example.org r1n3.example.org r2n01.example.org r2n3.example.org");
    EXPECT_EQ(named("n[98-101]"), "n98 n99 n100 n101");
    EXPECT_EQ(parse_hosts("n[0-9][0-99]")->size(), 1000U);
    for (const char* wrong :
         {"node[01-40", "node01-40]", "node]1[", "node[[1]]", "node[]", "node[1-]", "node[-3]",
          "node[1,]", "node[3-1]", "node[a-c]", "node[1-2-3]", "node[+1-2]", "node[1]:0",
          "node[1-2],node2", "[1-2]]", "n[0-65536]", "n[0-999][0-999]", "n[0-99999999999]"})
        EXPECT_FALSE(parse_hosts(wrong)) << wrong;
    EXPECT_THAT(named("node[3-1]"), AllOf(HasSubstr("3-1"), HasSubstr("node[01-40]")));
    EXPECT_THAT(named("node[1-3"), HasSubstr("a bracket is open"));
}

TEST(Hosts, AFileIsReadAsOpenMpiTakesIt) {
    const auto hosts = parse_hostfile("# a rack\n h1 slots=2 # fast\r\n\nh2:3\nh3", "rack");
    ASSERT_TRUE(hosts) << hosts.error().message;
    EXPECT_THAT(*hosts, ElementsAre(Host{"h1", 2}, Host{"h2", 3}, Host{"h3", 0}));
    const auto problem = [](const char* text) {
        return parse_hostfile(text, "rack").error().message;
    };
    EXPECT_EQ(problem("h1 slots=1\n\nh1"), "rack:3: h1 is given twice, first in line 1");
    EXPECT_EQ(problem("h1 slots=no"),
              "rack:1: \"slots=no\" after h1 should be slots=N, N from 1 to "
              "4096");
    EXPECT_THAT(problem("h1 slots=1 slots=2"), HasSubstr("rack:1: \"slots=2\""));
    EXPECT_THAT(problem("h1\n\x1b[2J"), AllOf(HasSubstr("rack:2:"), HasSubstr("is not a host")));
    EXPECT_EQ(problem("# nobody\n"), "rack names no host");
}

} // namespace
