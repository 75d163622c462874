// SPDX-License-Identifier: Apache-2.0
//
// What is called better or worse, how ratios are turned, and what means are made of.

#include "compare/comparison.hpp"
#include "compare/words.hpp"
#include "stats/difference.hpp"
#include "support/collection_maker.hpp"
#include "support/document.hpp"
#include "support/noise.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

namespace assay::compare {
namespace {

using test::CollectionMaker;
using test::gemm;
using test::Noise;
using namespace testing;

const Contrast& contrast_of(const Comparison& comparison, const std::string& what,
                            std::size_t side = 1) {
    for (const auto& table : comparison.tables)
        for (const auto& row : table.rows)
            if (row.identity.find(what) != std::string::npos) return *row.cells[side].contrast;
    static const Contrast none;
    ADD_FAILURE() << "no row " << what;
    return none;
}

/// Twenty sizes on two sides, of which one got slower.
Comparison twenty(double change, std::uint64_t seed, int replicas = 5) {
    CollectionMaker maker;
    Noise noise{seed};
    for (const char* label : {"A", "B"}) {
        const auto run = maker.run({.label = label});
        for (std::int64_t size = 1; size <= 20; ++size) {
            const bool changed = size == 7 && label[0] == 'B';
            maker.observe(run, gemm("openblas", size),
                          noise.replicas(changed ? 1e11 * change : 1e11, 0.005, replicas));
        }
    }
    return *compare(maker.collection());
}

TEST(CompareVerdict, LoadOnOneSideBoundsTheRatio) {
    for (const bool first : {true, false}) {
        CollectionMaker maker;
        for (const std::int64_t size : {512, 1024})
            maker.sides(gemm("openblas", size), {test::about(100), test::about(50)});
        maker.collection().observations[first ? 2 : 3].status = record::Status::disturbed;
        const auto comparison = compare(maker.collection()).value();
        EXPECT_EQ(contrast_of(comparison, "size=512").outcome, ContrastOutcome::worse);
        const auto& contrast = contrast_of(comparison, "size=1024");
        // A slowed case could do more: B is slower than a slowed A, and a slowed B may be as fast as A.
        EXPECT_EQ(contrast.outcome, first ? ContrastOutcome::worse : ContrastOutcome::cannot_tell);
        EXPECT_EQ(contrast.kind, first ? RatioKind::at_most : RatioKind::at_least);
        EXPECT_EQ(contrast.low.has_value(), !first);
        EXPECT_EQ(contrast.high.has_value(), first);
        EXPECT_EQ(contrast.no_verdict, first ? NoVerdict::none : NoVerdict::disturbed);
        EXPECT_EQ(contrast.about, first ? "A" : "B");
        EXPECT_EQ(comparison.overall[1].count, 1U);
    }
}

TEST(CompareVerdict, WhatIsFarBeyondLoadIsResolved) {
    CollectionMaker maker;
    maker.sides(gemm("openblas", 512), {test::about(100), test::about(3800)});
    maker.sides(gemm("openblas", 1024), {test::about(100), test::about(300)});
    for (auto& seen : maker.collection().observations) seen.status = record::Status::disturbed;
    const auto comparison = compare(maker.collection()).value();
    const auto& far = contrast_of(comparison, "size=512");
    EXPECT_EQ(far.outcome, ContrastOutcome::better);
    EXPECT_EQ(far.kind, RatioKind::about);
    const auto& near = contrast_of(comparison, "size=1024");
    EXPECT_EQ(near.outcome, ContrastOutcome::cannot_tell);
    EXPECT_NEAR(*near.ratio, 3, 0.01);
    EXPECT_FALSE(near.low || near.high || near.detectable);
    EXPECT_EQ(comparison.overall[1].count, 0U);
}

TEST(CompareVerdict, DisturbedRunsAreLeftOutBesideOthers) {
    CollectionMaker maker;
    for (const char* label : {"A", "A", "A", "B", "B", "B"})
        maker.observe(maker.run({.label = label}), gemm("openblas", 1024), {100});
    auto& disturbed = maker.collection().observations.back();
    disturbed.status = record::Status::disturbed;
    disturbed.value = 50;
    const auto comparison = compare(maker.collection()).value();
    const auto& cell = comparison.tables[0].rows[0].cells[1];
    EXPECT_NEAR(*cell.value, 100, 1e-9);
    EXPECT_EQ(cell.count, 2U);
    EXPECT_EQ(cell.contrast->no_verdict, NoVerdict::none);
    EXPECT_THAT(cell.notes, Contains("1 of 3 runs disturbed and not used"));
}

TEST(CompareVerdict, APlantedChangeIsFoundAndNothingElse) {
    const auto comparison = twenty(0.95, 1);
    const auto& found = contrast_of(comparison, "size=7 ");
    EXPECT_EQ(found.outcome, ContrastOutcome::worse);
    EXPECT_NEAR(*found.ratio, 0.95, 0.01);
    EXPECT_LT(*found.low, *found.ratio);
    EXPECT_GT(*found.high, *found.ratio);
    EXPECT_LT(*found.high, 1);
    EXPECT_EQ(comparison.tallies[1].worse, 1U);
    EXPECT_EQ(comparison.tallies[1].better, 0U);
    EXPECT_EQ(comparison.tests, 20U);
}

TEST(CompareVerdict, WithoutAChangeNothingIsCalled) {
    std::size_t called = 0;
    for (std::uint64_t seed = 10; seed < 60; ++seed) {
        const auto tally = twenty(1, seed, 3).tallies[1];
        called += tally.better + tally.worse;
    }
    EXPECT_LE(called, 3U); // of 1000 series; a table with one at all has a chance of 1%
}

TEST(CompareVerdict, ATooSmallChangeIsNeverCalled) {
    CollectionMaker maker;
    maker.sides(gemm("openblas", 1), {{1000, 1000.01, 999.99}, {1005, 1005.01, 1004.99}});
    const auto small = *compare(maker.collection());
    EXPECT_EQ(contrast_of(small, "size=1").outcome, ContrastOutcome::same);
    EXPECT_LT(*contrast_of(small, "size=1").p, 0.01);
    const auto bound = *compare(maker.collection(), {.minimum_effect = 0.002});
    EXPECT_EQ(contrast_of(bound, "size=1").outcome, ContrastOutcome::better);
}

TEST(CompareVerdict, NoisyFiguresSayBelowWhatTheyCannotTell) {
    CollectionMaker maker;
    maker.sides(gemm("openblas", 1), {{100, 110, 92}, {103, 95, 108}});
    const auto comparison = *compare(maker.collection());
    const auto& contrast = contrast_of(comparison, "size=1");
    EXPECT_EQ(contrast.outcome, ContrastOutcome::cannot_tell);
    ASSERT_TRUE(contrast.detectable.has_value());
    EXPECT_GT(*contrast.detectable, 0.1);
    EXPECT_THAT(contrast_in_words(contrast), HasSubstr("not resolved (above "));
}

TEST(CompareVerdict, OneValueASideTellsNothing) {
    CollectionMaker maker;
    maker.sides(gemm("openblas", 1), {{100}, {200}});
    const auto comparison = *compare(maker.collection());
    const auto& contrast = contrast_of(comparison, "size=1");
    EXPECT_EQ(contrast.outcome, ContrastOutcome::cannot_tell);
    EXPECT_FALSE(contrast.p.has_value());
    EXPECT_FALSE(contrast.detectable.has_value());
    EXPECT_NEAR(*contrast.ratio, 2, 1e-12);
    EXPECT_EQ(comparison.tests, 0U);
}

TEST(CompareVerdict, HalfTheLatencyIsTwiceAsGood) {
    CollectionMaker maker;
    maker.sides(test::latency(64), {{8e-9, 8.01e-9, 7.99e-9}, {4e-9, 4.01e-9, 3.99e-9}});
    const auto comparison = *compare(maker.collection());
    const auto& contrast = contrast_of(comparison, "memory.latency");
    EXPECT_EQ(contrast.outcome, ContrastOutcome::better);
    EXPECT_NEAR(*contrast.ratio, 2, 0.01);
    EXPECT_LT(*contrast.low, 2);
    EXPECT_GT(*contrast.high, 2);
    EXPECT_NEAR(*comparison.overall[1].ratio, 2, 0.01);
}

TEST(CompareVerdict, BothDirectionsMirrorEachOther) {
    CollectionMaker maker;
    maker.sides(gemm("openblas", 1), {{100, 101, 99}, {120, 121, 119}});
    const auto there = *compare(maker.collection());
    const auto back = *compare(maker.collection(), {.baseline = "B"});
    const auto& one = contrast_of(there, "size=1");
    const auto& other = contrast_of(back, "size=1");
    EXPECT_EQ(one.outcome, ContrastOutcome::better);
    EXPECT_EQ(other.outcome, ContrastOutcome::worse);
    EXPECT_NEAR(*one.ratio * *other.ratio, 1, 1e-12);
    EXPECT_NEAR(*one.low * *other.high, 1, 1e-12);
}

TEST(CompareVerdict, MeansAreOverSeriesThatEverySideHas) {
    CollectionMaker maker;
    maker.sides(gemm("openblas", 1), {{100, 101, 99}, {100, 101, 99}, {100, 101, 99}});
    // A huge ratio that C knows nothing of must not enter the mean of B.
    maker.sides(gemm("openblas", 2), {{100, 101, 99}, {1000, 1010, 990}});
    const auto comparison = *compare(maker.collection());
    EXPECT_EQ(comparison.overall[1].count, 1U);
    EXPECT_NEAR(*comparison.overall[1].ratio, 1, 1e-9);
    EXPECT_EQ(comparison.sides[2].measured, 1U);
    EXPECT_EQ(comparison.series, 2U);
}

TEST(CompareVerdict, ZeroAndNoNumberAreNoFigures) {
    for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
        CollectionMaker maker;
        maker.sides(gemm("openblas", 1), {{100, 101, 99}, {100, 101, 99}});
        maker.sides(gemm("openblas", 2), {{100, 101, 99}, {bad, bad, bad}});
        const auto comparison = *compare(maker.collection());
        EXPECT_EQ(comparison.overall[1].count, 1U);
        EXPECT_NEAR(*comparison.overall[1].ratio, 1, 1e-9);
        EXPECT_EQ(contrast_of(comparison, "size=2").outcome, ContrastOutcome::missing);
        EXPECT_THAT(comparison.not_compared,
                    Contains(Field(&NotCompared::reason, HasSubstr("cannot be compared"))));
    }
}

/// Machines of one type differ by 5%, their runs by 0.1%, processes by nothing much.
Comparison two_types(std::uint64_t seed, int machines, double change) {
    CollectionMaker maker;
    Noise noise{seed};
    for (const char* label : {"A", "B"})
        for (int machine = 0; machine < machines; ++machine) {
            const double level = noise.about(label[0] == 'B' ? 1e11 * change : 1e11, 0.05);
            for (int repeat = 0; repeat < 4; ++repeat) {
                const auto run =
                    maker.run({.label = label, .machine = fmt::format("{}-{}", label, machine)});
                for (std::int64_t size = 1; size <= 6; ++size)
                    maker.observe(run, gemm("openblas", size),
                                  noise.replicas(noise.about(level, 0.001), 0.001, 3));
            }
        }
    return *compare(maker.collection());
}

TEST(CompareVerdict, MachinesAreTheUnitWhereThereAreSeveral) {
    std::size_t called = 0;
    std::size_t means = 0;
    for (std::uint64_t seed = 100; seed < 130; ++seed) {
        const auto comparison = two_types(seed, 4, 1);
        EXPECT_EQ(comparison.unit, Unit::machine);
        EXPECT_EQ(comparison.tables[0].rows[0].cells[0].count, 4U);
        called += comparison.tallies[1].better + comparison.tallies[1].worse > 0 ? 1 : 0;
        const auto whole = comparison.overall[1].outcome;
        means += whole == ContrastOutcome::better || whole == ContrastOutcome::worse ? 1 : 0;
    }
    EXPECT_LE(means, 2U);
    EXPECT_LE(called, 2U); // with runs or processes as units nearly every one would call
    const auto different = two_types(7, 6, 1.5);
    EXPECT_EQ(different.tallies[1].better, 6U);
    const auto& mean = different.overall[1];
    EXPECT_LT(*mean.low, *mean.ratio / 1.02); // the machines' spread is in it
}

TEST(CompareVerdict, TheSameMachinesAreComparedWithThemselves) {
    CollectionMaker maker;
    Noise noise{5};
    for (int machine = 0; machine < 5; ++machine) {
        const double level = noise.about(1e11, 0.1);
        for (const char* label : {"before", "after"}) {
            const auto run = maker.run({.label = label, .machine = fmt::format("m-{}", machine)});
            maker.observe(run, gemm("openblas", 1),
                          {noise.about(label[0] == 'a' ? level * 0.96 : level, 0.003)});
        }
    }
    const auto comparison = *compare(maker.collection());
    EXPECT_TRUE(comparison.paired);
    EXPECT_EQ(contrast_of(comparison, "size=1").outcome, ContrastOutcome::worse);
    EXPECT_THAT(comparison.notes, Contains(HasSubstr("compared with itself")));
}

TEST(CompareVerdict, OneRunAgainstSeveralCountsWhatRunsDifferBy) {
    CollectionMaker maker;
    Noise noise{3};
    // Runs differ by 4%, processes of a run hardly: ten processes are not ten answers.
    for (int i = 0; i < 6; ++i)
        maker.observe(maker.run({.label = "many"}), gemm("openblas", 1),
                      noise.replicas(noise.about(100, 0.04), 0.0005, 5));
    maker.observe(maker.run({.label = "one"}), gemm("openblas", 1), noise.replicas(105, 0.0005, 5));
    const auto comparison = *compare(maker.collection());
    EXPECT_EQ(comparison.unit, Unit::run);
    EXPECT_EQ(contrast_of(comparison, "size=1").outcome, ContrastOutcome::cannot_tell);
    EXPECT_THAT(comparison.notes, Contains(HasSubstr("one is a single run")));
}

TEST(CompareVerdict, InterleavedRunsAreComparedPairByPair) {
    CollectionMaker maker;
    Noise noise{9};
    std::vector<double> a;
    std::vector<double> b;
    for (int i = 0; i < 10; ++i) {
        const double level = noise.about(100, 0.05); // the machine drifts by 5%; both sides alike
        a.push_back(noise.about(level, 0.004));
        b.push_back(noise.about(level * 0.97, 0.004));
    }
    const auto one = maker.run({.label = "old"});
    const auto other = maker.run({.label = "new"});
    maker.observe(one, gemm("openblas", 1), a);
    maker.observe(other, gemm("onednn", 1), b); // the setting is the library: one question
    for (const auto run : {one, other})
        maker.collection().runs[run].pairing =
            record::Pairing{.id = "p-1",
                            .setting = run == one ? "old" : "new",
                            .order = "ABBA",
                            .changes = {{"library", std::string{"x"}}}};
    const auto paired = *compare(maker.collection());
    ASSERT_THAT(paired.tables[0].rows, SizeIs(1));
    const auto& contrast = *paired.tables[0].rows[0].cells[1].contrast;
    EXPECT_TRUE(contrast.paired);
    EXPECT_EQ(contrast.outcome, ContrastOutcome::worse);
    EXPECT_NEAR(*contrast.ratio, 0.97, 0.01);
    // A pair that one side lost does not count, and is named.
    maker.collection().observations[0].replicas.pop_back();
    const auto nine = *compare(maker.collection());
    EXPECT_THAT(nine.tables[0].rows[0].cells[1].notes, Contains("9 pairs of 10 values"));
}

TEST(CompareVerdict, StrictCorrectionCallsNoMore) {
    CollectionMaker maker;
    Noise noise{21};
    for (const char* label : {"A", "B"}) {
        const auto run = maker.run({.label = label});
        for (std::int64_t size = 1; size <= 30; ++size)
            maker.observe(run, gemm("openblas", size),
                          noise.replicas(label[0] == 'B' ? 1.02e11 : 1e11, 0.008, 5));
    }
    const auto discovery = *compare(maker.collection());
    const auto strict = *compare(maker.collection(), {.correction = Correction::family_wise});
    EXPECT_GT(discovery.tallies[1].better, strict.tallies[1].better);
    EXPECT_EQ(to_string(strict.correction), "holm");
}

/// Whoever has the JSON can decide again.
TEST(CompareVerdict, EveryVerdictFollowsFromWhatIsShown) {
    for (std::uint64_t seed = 0; seed < 10; ++seed)
        for (const double change : {0.9, 0.985, 1.0, 1.03}) {
            const auto comparison = twenty(change, seed, 3 + static_cast<int>(seed % 4));
            for (const auto& row : comparison.tables[0].rows) {
                const auto& c = *row.cells[1].contrast;
                const double effect = std::log1p(comparison.minimum_effect);
                const bool called =
                    *c.p <= comparison.alpha && std::abs(std::log(*c.ratio)) >= effect;
                const bool within = std::log(*c.low) > -effect && std::log(*c.high) < effect;
                EXPECT_EQ(c.outcome,
                          called ? (*c.ratio > 1 ? ContrastOutcome::better : ContrastOutcome::worse)
                          : within ? ContrastOutcome::same
                                   : ContrastOutcome::cannot_tell);
            }
        }
}

TEST(CompareVerdict, MixedMachinesAndUnstableFiguresAreNamed) {
    CollectionMaker maker;
    maker.observe(maker.run({.label = "A", .cpu = "Zen 4"}), gemm("openblas", 1), {100, 101});
    maker
        .observe(maker.run({.label = "A", .machine = "m-2", .cpu = "Zen 5"}), gemm("openblas", 1),
                 {150, 151})
        .status = record::Status::unstable;
    maker.observe(maker.run({.label = "B", .machine = "m-3"}), gemm("openblas", 1), {100, 101});
    const auto comparison = *compare(maker.collection());
    EXPECT_THAT(comparison.notes, Contains(HasSubstr("A mixes Zen 4, c7a.large and Zen 5")));
    EXPECT_THAT(comparison.notes, Contains(HasSubstr("One machine only: B")));
    EXPECT_THAT(comparison.tables[0].rows[0].cells[0].notes, Contains("unstable in 1 of 2 runs"));
}

} // namespace
} // namespace assay::compare
