// SPDX-License-Identifier: Apache-2.0
//
// How a case went over the hours of a soak: slow stretches and drift are found, noise is not.

#include "record/soak.hpp"
#include "support/made_soak.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace {

using namespace assay;

record::SoakPhase phase_of(int visits, double noise, const std::function<double(int)>& factor,
                           std::uint64_t seed = 1) {
    return test::made_phase("some.case", visits, noise, factor, seed);
}

TEST(SoakCourse, NoiseAloneIsNoFinding) {
    int accused = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        const auto course = record::course_of(phase_of(60, 0.01, [](int) { return 1.0; }, seed));
        accused += record::slowing_of(course) > record::slow_warning ? 1 : 0;
    }
    EXPECT_LE(accused, 1) << "of 1000 healthy cases";
}

TEST(SoakCourse, ASlowStretchIsFoundAndPlaced) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const auto course = record::course_of(
            phase_of(60, 0.01, [](int i) { return i >= 20 && i < 30 ? 1.25 : 1.0; }, seed));
        if (!course.slowest) continue;
        found += record::slowing_of(course) > record::slow_fault ? 1 : 0;
        EXPECT_NEAR(course.slowest->slower, 0.2, 0.03);
        EXPECT_NEAR(course.slowest->from_seconds, 1200, 61);
        EXPECT_NEAR(course.slowest->to_seconds, 1800, 61);
        EXPECT_FALSE(course.slowest->lasts);
    }
    EXPECT_GE(found, 99);
}

TEST(SoakCourse, ASlowdownThatStaysLasts) {
    const auto course =
        record::course_of(phase_of(60, 0.01, [](int i) { return i < 40 ? 1.0 : 1.08; }));
    ASSERT_TRUE(course.slowest);
    EXPECT_TRUE(course.slowest->lasts);
    EXPECT_NEAR(course.slowest->slower, 0.074, 0.015);
}

TEST(SoakCourse, DriftIsTheChangeFromBeginToEnd) {
    const auto slower =
        record::course_of(phase_of(60, 0.01, [](int i) { return 1 + (0.1 * i / 59); }));
    EXPECT_NEAR(slower.drift, 0.09, 0.02);
    EXPECT_GT(record::slowing_of(slower), record::slow_warning);
    const auto faster =
        record::course_of(phase_of(60, 0.01, [](int i) { return 1.1 - (0.1 * i / 59); }));
    EXPECT_LT(faster.drift, 0);
}

TEST(SoakCourse, FewVisitsAndDisturbedOnesSayNothing) {
    EXPECT_FALSE(record::course_of(phase_of(7, 0.01, [](int i) { return 1.0 + i; })).usual_seconds);
    auto phase = phase_of(60, 0.01, [](int i) { return i >= 20 && i < 30 ? 1.25 : 1.0; });
    for (std::size_t i = 20; i < 30; ++i) phase.points[i].disturbed = 1;
    const auto course = record::course_of(phase);
    EXPECT_EQ(course.points, 50U);
    EXPECT_LE(record::slowing_of(course), record::slow_warning);
}

TEST(SoakCourse, HashesAreTexts) {
    const record::OutputHashes hashes{1, 0xffff'ffff'ffff'ffff, 0x0123'4567'89ab'cdef};
    EXPECT_EQ(record::to_text(hashes).size(), 48U);
    EXPECT_EQ(record::hashes_from(record::to_text(hashes)), hashes);
    EXPECT_TRUE(record::hashes_from("123").empty());
    EXPECT_TRUE(record::hashes_from(std::string(16, 'x')).empty());
    EXPECT_EQ(record::digest_of({}), "");
    EXPECT_NE(record::digest_of({1, 2}), record::digest_of({2, 1}));
}

} // namespace
