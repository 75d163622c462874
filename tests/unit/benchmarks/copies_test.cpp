// SPDX-License-Identifier: Apache-2.0
#include "transfer/copies.hpp"
#include "transfer/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace assay::transfer {
namespace {

constexpr std::array every_direction{Direction::to_device, Direction::to_host, Direction::both,
                                     Direction::to_device_loaded, Direction::to_host_loaded};

TEST(WhyNot, lets_pinned_memory_do_everything) {
    for (const Direction direction : every_direction)
        for (const Engine engine : {Engine::copy_engine, Engine::kernel})
            EXPECT_EQ(why_not(direction, HostMemory::pinned, engine, false), "");
}

TEST(WhyNot, lets_pageable_memory_go_one_way) {
    for (const Direction direction : every_direction) {
        const bool one_way = !is_two_way(direction);
        EXPECT_EQ(why_not(direction, HostMemory::pageable, Engine::copy_engine, false).empty(),
                  one_way);
        EXPECT_EQ(why_not(direction, HostMemory::pageable, Engine::kernel, true).empty(), one_way);
        EXPECT_TRUE(why_not(direction, HostMemory::pageable, Engine::kernel, false)
                        .starts_with("not applicable: "));
    }
}

TEST(WordsIn, are_whole_vectors_and_no_more_than_asked_for) {
    EXPECT_EQ(words_in(0), 2U);
    EXPECT_EQ(words_in(1), 2U);
    EXPECT_EQ(words_in(16), 2U);
    EXPECT_EQ(words_in(31), 2U);
    EXPECT_EQ(words_in(4096), 512U);
    EXPECT_EQ(words_in(std::int64_t{1} << 36U), std::size_t{1} << 33U); // beyond 32 bits
}

TEST(CopyBlocks, are_enough_for_short_copies_and_bounded_for_long_ones) {
    EXPECT_EQ(copy_blocks(words_in(16), 132, 1), 1U);
    EXPECT_EQ(copy_blocks(words_in(std::int64_t{8} << 10U), 132, 1), 1U);
    EXPECT_EQ(copy_blocks(words_in((std::int64_t{8} << 10U) + 16), 132, 1), 2U);
    EXPECT_EQ(copy_blocks(words_in(std::int64_t{1} << 30U), 132, 1), 132U);
    EXPECT_EQ(copy_blocks(words_in(std::int64_t{1} << 40U), 132, 3), 396U);
    EXPECT_EQ(copy_blocks(words_in(std::int64_t{1} << 40U), 132, 0),
              132U); // not asked, or no answer
    EXPECT_EQ(copy_blocks(words_in(std::int64_t{1} << 40U), 0, 1), 1U);
}

TEST(WrongWord, sees_one_bit) {
    std::vector<std::uint64_t> words(100);
    const MakeWord make{words.data(), 7};
    for (std::uint64_t i = 0; i < words.size(); ++i) make(i);
    const WrongWord wrong{words.data(), 7};
    for (std::uint64_t i = 0; i < words.size(); ++i) EXPECT_EQ(wrong(i), 0);
    words[42] ^= std::uint64_t{1} << 63U;
    EXPECT_EQ(wrong(42), 1);
    EXPECT_EQ((WrongWord{words.data(), 8}(0)), 1) << "another seed is other data";
}

TEST(Slots, lie_apart) {
    EXPECT_EQ(slot_stride(1), 256U);
    EXPECT_EQ(slot_stride(256), 256U);
    EXPECT_EQ(slot_stride(257), 512U);
    EXPECT_EQ(slot_stride(4096), 4096U);
}

TEST(Slots, take_turns_round_and_round) {
    Turns turns;
    EXPECT_EQ(turns.full(), 0U);
    for (std::size_t i = 0; i < 3 * slot_count; ++i) {
        EXPECT_EQ(turns.take(), i % slot_count);
        EXPECT_EQ(turns.full(), std::min(i + 1, slot_count));
    }
    turns.go_to(5);
    EXPECT_EQ(turns.take(), 5U);
    EXPECT_EQ(turns.full(), slot_count);
}

class SlotCheck : public testing::TestWithParam<std::size_t> {
protected:
    std::size_t bytes = GetParam();
    std::size_t stride = slot_stride(bytes);
    std::vector<unsigned char> slots = std::vector<unsigned char>(slot_count * stride, empty_byte);
    void copy(std::size_t slot) {
        for (std::size_t at = 0; at < bytes; ++at)
            slots[slot * stride + at] = slot_byte(100, slot, at);
    }
};

TEST_P(SlotCheck, sees_a_copy_that_did_not_happen_in_every_byte) {
    EXPECT_EQ(wrong_bytes(slots, bytes, 100, 0), 0U);
    EXPECT_FALSE(check_slots(slots, bytes, 100, 0).passed) << "nothing was copied";
    copy(0);
    EXPECT_TRUE(check_slots(slots, bytes, 100, 1).passed);
    EXPECT_EQ(wrong_bytes(slots, bytes, 100, 2), bytes);
    EXPECT_EQ(wrong_bytes(slots, bytes, 100, 0), bytes) << "more was copied than asked for";
}

TEST_P(SlotCheck, sees_one_bit_anywhere) {
    fill_slots(slots, bytes, 100);
    ASSERT_TRUE(check_slots(slots, bytes, 100, slot_count).passed);
    for (const std::size_t at : {std::size_t{0}, bytes - 1, stride - 1, slots.size() - 1}) {
        slots[at] ^= 1U;
        EXPECT_EQ(wrong_bytes(slots, bytes, 100, slot_count), 1U) << at;
        slots[at] ^= 1U;
    }
}

TEST_P(SlotCheck, sees_slots_that_were_swapped) {
    fill_slots(slots, bytes, 100);
    std::swap_ranges(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(bytes),
                     slots.begin() + static_cast<std::ptrdiff_t>(stride));
    EXPECT_FALSE(check_slots(slots, bytes, 100, slot_count).passed);
}

INSTANTIATE_TEST_SUITE_P(Sizes, SlotCheck, testing::Values(1, 4, 255, 256, 1000));

} // namespace
} // namespace assay::transfer
