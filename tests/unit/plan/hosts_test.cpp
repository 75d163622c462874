// SPDX-License-Identifier: Apache-2.0
//
// The hosts of a team, as people write them.

#include "plan/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
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
