// SPDX-License-Identifier: Apache-2.0

#include "worker/window.hpp"

#include <gmock/gmock.h>

#include <random>

namespace assay::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(KeptValues, MergesNeighboursWhenFull) {
    KeptValues kept{20};
    for (int i = 0; i < 20; ++i) kept.add(i);
    EXPECT_EQ(kept.group(), 1U);
    EXPECT_EQ(kept.values().size(), 20U);

    kept.add(20);
    EXPECT_EQ(kept.group(), 2U);
    EXPECT_EQ(kept.values().size(), 10U); // the incomplete pair does not count
    EXPECT_FALSE(kept.at_group_end());
    EXPECT_EQ(kept.batches(), 20U);

    kept.add(21);
    EXPECT_TRUE(kept.at_group_end());
    EXPECT_EQ(kept.batches(), 22U);
    EXPECT_THAT(kept.values(),
                ElementsAre(0.5, 2.5, 4.5, 6.5, 8.5, 10.5, 12.5, 14.5, 16.5, 18.5, 20.5));
}

TEST(KeptValues, MeanIsThatOfTheBatchesThatCount) {
    std::mt19937_64 random{1};
    std::gamma_distribution<> times{4, 0.25};
    for (const std::uint64_t limit : {0U, 21U, 200U}) {
        KeptValues kept{limit};
        std::vector<double> all;
        for (int i = 0; i < 5000; ++i) {
            all.push_back(times(random));
            kept.add(all.back());
            ASSERT_LE(kept.values().size(), std::max<std::uint64_t>(limit, 20));
            ASSERT_LE(kept.batches(), all.size());
            ASSERT_LT(all.size() - kept.batches(), kept.group());
            const std::span<const double> counted{all.data(), kept.batches()};
            ASSERT_NEAR(stats::mean(kept.values()), stats::mean(counted), 1e-12);
        }
    }
}

TEST(SlowTail, NeedsAHundredCalls) {
    SlowTail tail;
    for (int i = 1; i <= 99; ++i) tail.add(i);
    EXPECT_FALSE(tail.p99());
    tail.add(100);
    tail.add(101);
    EXPECT_DOUBLE_EQ(*tail.p99(), 100); // (101 - 1) 0.99 = 99: the hundredth of them
}

TEST(BatchesNeeded, FewWhereOneCallIsLong) {
    const Protocol protocol; // 200 batches in 1 s: 5 ms each
    EXPECT_EQ(batches_needed(protocol, 4.9e-3), protocol.min_batches);
    EXPECT_EQ(batches_needed(protocol, 5.1e-3), protocol.few_batches);
}

TEST(Looks, AreSpacedByAFactorAndStandAtGroupEnds) {
    const Protocol protocol;
    KeptValues kept{200};
    Looks looks{protocol, protocol.min_batches};
    std::vector<std::uint64_t> seen;
    for (int i = 1; i <= 1000; ++i) {
        kept.add(1);
        if (looks.due(kept, i * 2.5e-3)) seen.push_back(kept.batches());
    }
    // 400 batches last a second. 520 to 676 are groups of 4, 880 of 8.
    EXPECT_THAT(seen, ElementsAre(400, 520, 676, 880));
}

TEST(Looks, WaitForTheShortestWindow) {
    const Protocol protocol;
    KeptValues kept{200};
    Looks looks{protocol, 10};
    for (int i = 0; i < 50; ++i) kept.add(1);
    EXPECT_FALSE(looks.due(kept, 0.99));
    EXPECT_TRUE(looks.due(kept, 1));
    EXPECT_FALSE(looks.due(kept, 1)); // 65 come first
}

TEST(Judge, NamesEverythingThatIsWrong) {
    KeptValues kept{200};
    for (int i = 0; i < 50; ++i) kept.add(1 + 0.01 * i);
    const Judgement judgement = judge(kept, Protocol{}, 0, 200);
    EXPECT_EQ(judgement.conclusion.status, record::Status::unstable);
    EXPECT_THAT(judgement.conclusion.reason, HasSubstr("50 batches of the 200 that are needed"));
    EXPECT_THAT(judgement.conclusion.reason,
                HasSubstr("drift: first half 1.12 s, second half 1.37 s"));
    EXPECT_THAT(judgement.conclusion.reason, HasSubstr("the target is 1%"));
    EXPECT_THAT(judgement.conclusion.reason, HasSubstr("correlated"));
}

TEST(Judge, ADifferenceWithinTheTargetIsNoDrift) {
    KeptValues kept{200};
    for (int i = 0; i < 100; ++i) kept.add(i < 50 ? 1 : 1.004);
    const Judgement judgement = judge(kept, Protocol{.target = 0.01}, 0, 10);
    EXPECT_THAT(judgement.conclusion.reason, testing::Not(HasSubstr("drift")));
}

} // namespace
} // namespace assay::measure
