// SPDX-License-Identifier: Apache-2.0

#include <assay/host.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace assay {
namespace {

template <class T>
std::uintptr_t address(const HostBuffer<T>& buffer) {
    return reinterpret_cast<std::uintptr_t>(buffer.data());
}

TEST(HostBuffer, IsZeroAlignedAndWritableToTheEnd) {
    for (const std::size_t count : {1U, 100U, 5000U, 300'000U, 3'000'000U}) {
        HostBuffer<double> buffer{count};
        ASSERT_EQ(buffer.size(), count);
        EXPECT_EQ(buffer.bytes(), count * sizeof(double));
        EXPECT_EQ(address(buffer) % (buffer.bytes() >= huge_page ? huge_page : cache_line), 0U);
        EXPECT_TRUE(std::ranges::all_of(buffer.view(), [](double value) { return value == 0; }));
        std::ranges::fill(buffer.view(), 1.0);
        EXPECT_EQ(buffer[count - 1], 1.0);
    }
}

TEST(HostBuffer, KeepsItsOffset) {
    const HostBuffer<float> large{huge_page, {.threads = 1, .offset = 17 * cache_line}};
    EXPECT_EQ(address(large) % huge_page, 17 * cache_line);
    const HostBuffer<float> small{10, {.huge = false, .offset = cache_line}};
    EXPECT_EQ(address(small) % cache_line, 0U);
    EXPECT_THROW((HostBuffer<float>{10, {.offset = 8}}), std::invalid_argument);
}

TEST(HostBuffer, OfNothingIsEmpty) {
    const HostBuffer<int> none;
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_TRUE(none.view().empty());
    EXPECT_EQ(HostBuffer<int>{0}.size(), 0U);
}

TEST(HostBuffer, MovesWithoutCopying) {
    HostBuffer<int> first{1000};
    first[999] = 7;
    const int* const data = first.data();
    HostBuffer<int> second{std::move(first)};
    EXPECT_EQ(second.data(), data);
    HostBuffer<int> third{5};
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third[999], 7);
}

TEST(HostBuffer, ViewsASlice) {
    HostBuffer<int> buffer{10};
    std::ranges::fill(buffer.view(Slice{.first = 2, .last = 5}), 1);
    EXPECT_EQ(std::ranges::count(std::as_const(buffer).view(), 1), 3);
    EXPECT_EQ(std::as_const(buffer).view(Slice{.first = 2, .last = 5}).data(), buffer.data() + 2);
}

TEST(HostBuffer, SaysWhenThereIsNotSoMuch) {
    EXPECT_THROW(HostBuffer<double>{std::numeric_limits<std::size_t>::max() / 4},
                 std::length_error);
    // Half a pebibyte times eight: more than an address space of 47 bits has.
    EXPECT_THROW(HostBuffer<double>{std::size_t{1} << 52U}, std::system_error);
}

// Once keep() has been given the address of a value, the optimiser can no longer know that it is 1, and
// after an assignment clobber() makes it forget again. (Unoptimised, it never knows.)
TEST(Barriers, HideWhatMemoryHolds) {
    int value = 1;
    int* const seen = &value;
    keep(seen);
    EXPECT_FALSE(__builtin_constant_p(value));
    value = 2;
    clobber();
    EXPECT_FALSE(__builtin_constant_p(value));
    EXPECT_EQ(value, 2);
}

TEST(Barriers, TakeEveryKindOfValue) {
    struct Large {
        double values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    };
    const Large large;
    keep(large);
    keep(2.5);
    keep(2.5F);
    keep('x');
    EXPECT_EQ(large.values[8], 9);
}

} // namespace
} // namespace assay
