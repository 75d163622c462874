// SPDX-License-Identifier: Apache-2.0

#include <assay/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace assay {
namespace {

TEST(SliceOf, CoversEveryElementOnce) {
    for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 63U, 64U, 1000U, 1001U})
        for (const std::size_t parts : {1U, 2U, 3U, 7U, 64U})
            for (const std::size_t granule : {1U, 8U, 64U}) {
                std::size_t next = 0;
                for (std::size_t part = 0; part < parts; ++part) {
                    const Slice slice = slice_of(count, part, parts, granule);
                    ASSERT_EQ(slice.first, next);
                    ASSERT_GE(slice.last, slice.first);
                    next = slice.last;
                }
                ASSERT_EQ(next, count) << parts << " parts, granule " << granule;
            }
}

TEST(SliceOf, CutsOnGranulesIntoNearlyEqualParts) {
    const std::size_t count = 1003;
    const std::size_t granule = 8;
    for (std::size_t part = 0; part < 5; ++part) {
        const Slice slice = slice_of(count, part, 5, granule);
        EXPECT_EQ(slice.first % granule, 0U);
        EXPECT_TRUE(slice.last % granule == 0 || slice.last == count);
        EXPECT_NEAR(static_cast<double>(slice.size()), 1003.0 / 5, granule);
    }
}

TEST(OnEachThread, CallsTheBodyOncePerThread) {
    std::vector<std::atomic<int>> calls(3);
    std::atomic<std::size_t> team = 0;
    on_each_thread(3, [&](std::size_t thread, std::size_t size) {
        ++calls.at(thread);
        team = size;
    });
    EXPECT_EQ(team, has_threads() ? 3U : 1U);
    for (std::size_t thread = 0; thread < team; ++thread) EXPECT_EQ(calls.at(thread), 1);
}

TEST(OnEachSlice, GivesEveryElementToOneThread) {
    std::vector<std::atomic<int>> touched(1001);
    on_each_slice(4, touched.size(), 8, [&](Slice slice) {
        for (std::size_t i = slice.first; i < slice.last; ++i) ++touched[i];
    });
    EXPECT_TRUE(std::ranges::all_of(touched, [](const auto& times) { return times == 1; }));
}

} // namespace
} // namespace assay
