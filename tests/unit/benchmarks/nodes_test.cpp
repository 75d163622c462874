// SPDX-License-Identifier: Apache-2.0
#include "support/temporary_folder.hpp"
#include "transfer/nodes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace assay::transfer {
namespace {

namespace fs = std::filesystem;
using List = std::vector<int>;

TEST(ParseList, reads_numbers_and_ranges) {
    EXPECT_EQ(parse_list("0"), List({0}));
    EXPECT_EQ(parse_list("0-3"), List({0, 1, 2, 3}));
    EXPECT_EQ(parse_list("0-1,8,10-11"), List({0, 1, 8, 10, 11}));
    EXPECT_EQ(parse_list("8,0-1,1"), List({0, 1, 8}));
    EXPECT_EQ(parse_list("0-8191").size(), 8192U);
}

TEST(ParseList, makes_nothing_of_nonsense) {
    for (const std::string text : {"", ",", "-", "0-", "-3", "3-0", "0,,1", "0,", "0 1", "a", "0x3",
                                   "0-99999999999", "0-2147483647", "99999", "1-2-3", "0-3,x"})
        EXPECT_TRUE(parse_list(text).empty()) << text;
    std::string many = "0-65535";
    for (int i = 0; i < 100; ++i) many += ",0-65535";
    EXPECT_TRUE(parse_list(many).empty());
}

TEST(MaskOf, has_the_bit_of_its_node_alone) {
    for (const int node : {0, 1, 63, 64, 65, 511, 1023}) {
        const NodeMask mask = mask_of(node);
        for (int bit = 0; bit < most_nodes; ++bit) {
            const auto word = mask.at(static_cast<std::size_t>(bit) / 64);
            ASSERT_EQ((word >> (static_cast<unsigned>(bit) % 64U)) & 1U, bit == node ? 1U : 0U)
                << node << " " << bit;
        }
    }
    for (const int none : {-1, 1024, 1 << 30})
        for (const unsigned long word : mask_of(none)) EXPECT_EQ(word, 0U);
}

/// A tree as the kernel lays it out.
class NodesBelow : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text) {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream{folder_ / name} << text;
    }
    const made::TemporaryFolder made_;
    const fs::path& folder_ = made_.path();
};

TEST_F(NodesBelow, are_read_in_the_order_of_their_numbers) {
    write("node10/cpulist", "4-5\n");
    write("node2/cpulist", "2-3\n");
    write("node0/cpulist", "0-1,6\n");
    write("node3/cpulist", "\n"); // memory alone
    write("nodes/cpulist", "9\n");
    write("node2x/cpulist", "9\n");
    write("node1024/cpulist", "9\n");
    write("node-1/cpulist", "9\n");
    write("online", "0,2-3,10\n");
    write("has_memory", "0,3,10\n");
    const auto nodes = read_nodes(folder_);
    ASSERT_EQ(nodes.size(), 4U);
    EXPECT_EQ(nodes[0].number, 0);
    EXPECT_EQ(nodes[0].cpus, List({0, 1, 6}));
    EXPECT_EQ(nodes[1].number, 2);
    EXPECT_EQ(nodes[2].number, 3);
    EXPECT_TRUE(nodes[2].cpus.empty());
    EXPECT_EQ(nodes[3].number, 10);
    EXPECT_EQ(nodes_with_memory(folder_, nodes), List({0, 3, 10}));
}

TEST_F(NodesBelow, all_count_as_having_memory_where_nobody_says) {
    write("node0/cpulist", "0\n");
    write("node1/cpulist", "1\n");
    EXPECT_EQ(nodes_with_memory(folder_, read_nodes(folder_)), List({0, 1}));
}

TEST(ReadNodes, finds_none_where_there_is_no_folder) {
    EXPECT_TRUE(read_nodes("/nowhere/at/all").empty());
}

TEST(TeamsOf, puts_every_thread_to_its_node) {
    const std::vector<Node> nodes{
        {.number = 0, .cpus = {0, 1, 2}}, {.number = 3, .cpus = {}}, {.number = 5, .cpus = {8, 9}}};
    const std::vector<int> cpus{9, 0, 2, 77, 8, -1};
    const Teams teams = teams_of(nodes, cpus);
    EXPECT_EQ(teams.rows, List({0, 5}));
    ASSERT_EQ(teams.team.size(), 2U);
    EXPECT_EQ(teams.team[0], std::vector<std::size_t>({1, 2}));
    EXPECT_EQ(teams.team[1], std::vector<std::size_t>({0, 4}));
    EXPECT_TRUE(teams_of({}, cpus).rows.empty());
    EXPECT_TRUE(teams_of(nodes, {}).rows.empty());
}

TEST(BindToNode, says_why_not) {
    alignas(4096) static std::byte page[4096];
    const std::string why = bind_to_node(page, sizeof page, most_nodes - 1); // hardly there
    EXPECT_NE(why.find("node 1023"), std::string::npos) << why;
}

TEST(BytesElsewhere, counts_pages_that_were_never_touched) {
    alignas(4096) static std::byte page[4096];
    page[0] = std::byte{1};
    EXPECT_EQ(bytes_elsewhere(page, sizeof page, 4096, most_nodes - 1), 4096U);
    EXPECT_EQ(bytes_elsewhere(page, 0, 4096, 0), 0U);
}

} // namespace
} // namespace assay::transfer
