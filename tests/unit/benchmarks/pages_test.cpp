// SPDX-License-Identifier: Apache-2.0
#include "memory/pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>

namespace assay::memory {
namespace {

const std::string two_mappings = R"(7f0000000000-7f0000400000 rw-p 00000000 00:00 0 
Size:               4096 kB
KernelPageSize:        4 kB
Rss:                3072 kB
Pss:                3072 kB
AnonHugePages:      2048 kB
VmFlags: rd wr mr mw me ac hg
7f0000400000-7f0000401000 rw-p 00000000 00:00 0                          [stack]
Rss:                   4 kB
AnonHugePages:         0 kB
)";

TEST(ParseSmaps, counts_what_lies_within) {
    const Resident first = parse_smaps(two_mappings, 0x7f0000000000, 0x7f0000400000);
    EXPECT_EQ(first.bytes, 3072U * 1024);
    EXPECT_EQ(first.huge, 2048U * 1024);
    EXPECT_STREQ(first.words(), "mixed");
    const Resident second = parse_smaps(two_mappings, 0x7f0000400000, 0x7f0000401000);
    EXPECT_EQ(second.bytes, 4096U);
    EXPECT_STREQ(second.words(), "small");
    const Resident both = parse_smaps(two_mappings, 0, ~std::uintptr_t{0});
    EXPECT_EQ(both.bytes, 3076U * 1024);
}

TEST(ParseSmaps, leaves_out_mappings_that_reach_further) {
    const Resident part = parse_smaps(two_mappings, 0x7f0000000000, 0x7f00003ff000);
    EXPECT_EQ(part.bytes, 0U);
    EXPECT_STREQ(part.words(), "none");
}

TEST(ParseSmaps, makes_nothing_of_nonsense) {
    for (const std::string text :
         {"", "\n\n\n", "Rss: 4 kB", "7f-8f", "7f-8f ", "zz-8f rw-p\nRss: 4 kB\n",
          "8f-7f rw-p\nRss: 4 kB\n", "-\nRss: 4 kB\n", "7f-8f rw-p\nRss: many kB\n",
          "7f-8f rw-p\nRss: -4 kB\n", "7f-8f rw-p\nRss:\n", "7f-8f rw-p\nRss: 4 MB\n",
          "7f-8f rw-p\nRss: 99999999999999999999999 kB\n",
          "7f-8f rw-p\nRss: 18446744073709551615 kB\n",
          "ffffffffffffffffffffffff-8f rw-p\nRss: 4 kB\n", "7f-8f rw-p\nrss: 4 kB\n"})
        EXPECT_EQ(parse_smaps(text, 0, ~std::uintptr_t{0}).bytes, 0U) << text;
}

TEST(ParseSmaps, reads_a_last_line_without_an_end) {
    EXPECT_EQ(parse_smaps("7f-8f rw-p\nRss: 4 kB", 0x7f, 0x8f).bytes, 4096U);
}

TEST(Memory, is_zero_and_begins_on_a_huge_page) {
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{8192}, (std::size_t{5} << 20U) + 3}) {
        const Memory memory{size, Pages::huge};
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % (2U << 20U), 0U);
        EXPECT_EQ(memory.size(), size);
        EXPECT_EQ(memory.data()[0], std::byte{0});
        EXPECT_EQ(memory.data()[size - 1], std::byte{0});
    }
}

TEST(Memory, knows_what_has_been_touched) {
    Memory memory{1U << 20U, Pages::small};
    EXPECT_EQ(memory.resident().bytes, 0U);
    memory.touch(0, 512U << 10U);
    EXPECT_EQ(memory.resident().bytes, 512U << 10U);
    EXPECT_EQ(memory.resident().huge, 0U);
    EXPECT_STREQ(memory.resident().words(), "small");
    memory.touch(0, memory.size());
    EXPECT_EQ(memory.resident().bytes, memory.size());
}

TEST(Memory, counts_its_own_pages_and_not_its_neighbours) {
    Memory first{4096, Pages::small};
    Memory second{4096, Pages::small};
    first.touch(0, 4096);
    second.touch(0, 4096);
    EXPECT_EQ(first.resident().bytes, 4096U);
    EXPECT_EQ(second.resident().bytes, 4096U);
}

TEST(Memory, says_so_when_there_is_no_room) {
    EXPECT_THROW((Memory{std::numeric_limits<std::size_t>::max(), Pages::small}),
                 std::length_error);
    EXPECT_THROW((Memory{std::size_t{1} << 60U, Pages::small}), std::system_error);
}

} // namespace
} // namespace assay::memory
