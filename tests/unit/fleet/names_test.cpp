// SPDX-License-Identifier: Apache-2.0

#include "fleet/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(FleetNames, ExpandsRangesAsSlurmWritesThem) {
    EXPECT_THAT(expand_nodes("n[08-11],gpu3").value(),
                ElementsAre("n08", "n09", "n10", "n11", "gpu3"));
    EXPECT_THAT(expand_nodes("r[1-2]n[1,3].hpc").value(),
                ElementsAre("r1n1.hpc", "r1n3.hpc", "r2n1.hpc", "r2n3.hpc"));
    EXPECT_THAT(expand_nodes("n[0001-10000]").value(), SizeIs(10000));
    EXPECT_EQ(expand_nodes("n[0001-10000]")->back(), "n10000");
    EXPECT_THAT(expand_nodes("n1 n1,n1").value(), ElementsAre("n1"));
}

TEST(FleetNames, ReadsAFileWithCommentsAndLines) {
    EXPECT_THAT(parse_nodes("# rack 1\nn[1-2]  # two\r\n\nn7\n", "nodes.txt").value(),
                ElementsAre("n1", "n2", "n7"));
    EXPECT_THAT(parse_nodes("# nobody\n", "nodes.txt").error().message, HasSubstr("nodes.txt"));
}

TEST(FleetNames, RefusesWhatIsNoName) {
    for (const auto* text : {"n[5-1]", "n[a-b]", "n[1", "n[]", "n$1", "n[1-99999999]",
                             "n[1-99999999999999999999]", "a/b", "n]1"})
        EXPECT_FALSE(expand_nodes(text)) << text;
    EXPECT_THAT(expand_nodes("n[5-1]").error().message, HasSubstr("[01-40]"));
}

TEST(FleetNames, KnowsAHostWithAndWithoutItsDomain) {
    const NodeNames brief{{"n1", "n2"}};
    EXPECT_EQ(brief.of_host("n1.cluster.example"), "n1");
    EXPECT_EQ(brief.of_host("x1.cluster.example"), "x1.cluster.example");
    const NodeNames full{{"n1.east", "n2.east", "n2.west"}};
    EXPECT_EQ(full.of_host("n1"), "n1.east");
    EXPECT_EQ(full.of_host("n2"), "n2") << "it could be either";
}

TEST(FleetNames, FindsANodeInAPathByTheDeepestFolder) {
    const NodeNames names{{"n1", "n2"}};
    EXPECT_EQ(names.of_path("gathered/n1/quick/host/m-1/run.json"), "n1");
    EXPECT_EQ(names.of_path("n1/copy/n2/run.json"), "n2");
    EXPECT_EQ(names.of_path("other/run.json"), "");
    EXPECT_EQ(names.of_path("n1"), "") << "a file of that name is no folder";
}

} // namespace
} // namespace assay::report
