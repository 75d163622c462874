// SPDX-License-Identifier: Apache-2.0
//
// What workload.prefill_attention counts, and which of its rows are recomputed.
#include "workload/prefill_data.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay::workload {
namespace {

TEST(Prefill, CountsBothProductsAndHalfOfThemWhereCausal) {
    PrefillShape shape{4, 32, 8, 4096, 128, false};
    EXPECT_EQ(shape.work().flops, 4.0 * 4 * 32 * 4096 * 4096 * 128);
    EXPECT_EQ(shape.work().bytes, 2.0 * 4 * 4096 * 128 * (2 * 32 + 2 * 4));
    EXPECT_EQ(shape.work().items, 4 * 4096);
    EXPECT_EQ(shape.keys_of(0), 4096U);
    shape.is_causal = true;
    EXPECT_EQ(shape.work().flops, 2.0 * 4 * 32 * 4096 * 4096 * 128);
    EXPECT_EQ(shape.keys_of(0), 1U);
    EXPECT_EQ(shape.keys_of(4095), 4096U);
    EXPECT_FALSE((PrefillShape{1, 12, 8, 64, 64, true}).fits());
}

TEST(Prefill, RecomputesEarlyAndLateRowsOfManyHeads) {
    const PrefillShape shape{4, 32, 1, 4096, 128, true};
    for (std::uint64_t round = 0; round < 20; ++round) {
        const PrefillRows rows{shape, round};
        ASSERT_EQ(rows.size(), 32U);
        std::set<std::size_t> heads;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_LT(rows[i], static_cast<std::size_t>(shape.rows()));
            heads.insert(rows[i] / 4096);
            if (i % 2 == 0) continue;
            EXPECT_EQ(rows[i] / 4096, rows[i - 1] / 4096);
            EXPECT_TRUE(i <= 3 || rows.position(i) < 64) << rows.position(i);
        }
        EXPECT_GE(heads.size(), 15U);
        EXPECT_EQ(rows.position(1), 4095U);
        EXPECT_EQ(rows.position(3), 0U);
    }
}

/// Also where a prompt has fewer tokens than there are early rows, and fewer rows than samples.
TEST(Prefill, DamageHoldsRowThatIsRecomputed) {
    for (const std::int64_t tokens : {1, 3, 333})
        for (std::uint64_t pick = 0; pick < 50; ++pick) {
            const PrefillRows rows{{1, 2, 1, tokens, 64, true}, pick};
            const Slice damage = rows.damage(977 * pick);
            bool is_seen = false;
            for (std::size_t i = 0; i < rows.size(); ++i)
                is_seen = is_seen || (rows[i] >= damage.first && rows[i] < damage.last);
            EXPECT_TRUE(is_seen) << tokens << " tokens, pick " << pick;
        }
}

} // namespace
} // namespace assay::workload
