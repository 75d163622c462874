// SPDX-License-Identifier: Apache-2.0

#include "record/conditions.hpp"
#include "record/model.hpp"
#include "record/soak.hpp"
#include "support/made_soak.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::record {
namespace {

using testing::IsEmpty;

TEST(Model, AReasonOfALaterVersionIsAnother) {
    record::ReasonCode code = record::ReasonCode::none;
    EXPECT_TRUE(from_text("time_limit", code));
    EXPECT_EQ(code, record::ReasonCode::time_limit);
    EXPECT_TRUE(from_text("eaten_by_mice", code));
    EXPECT_EQ(code, record::ReasonCode::other);
}

TEST(Model, FinishedMeansNotTriedAgain) {
    for (const auto status : all_values<record::Status>())
        EXPECT_EQ(is_finished(status),
                  status == record::Status::ok || status == record::Status::unstable ||
                      status == record::Status::incorrect || status == record::Status::skipped)
            << to_string(status);
}

TEST(Model, IdentityInWords) {
    record::Case c;
    c.benchmark = "gemm.square";
    c.place.kind = "host";
    c.library = "openblas";
    c.parameters = {{"precision", std::string{"fp64"}}, {"size", std::int64_t{1024}}};
    c.settings = {{"core_type", std::string{"SkylakeX"}}};
    EXPECT_EQ(identity(c), "gemm.square[openblas] precision=fp64 size=1024");
    c.version = 2;
    c.place = {.kind = "cuda", .uuid = "GPU-1", .index = 3};
    c.parameters = {{"ratio", 0.5}, {"plain", false}};
    EXPECT_EQ(identity(c), "gemm.square/2[openblas]@cuda:3 ratio=0.5 plain=false");
}

// --- conditions --------------------------------------------------------------------------------------

/// On a device of this description.
struct Sample {
    Sample() {
        c.place = {.kind = "cuda", .uuid = "GPU-1"};
        c.settings = {{"threads", std::int64_t{256}}};
        machine.devices = {{.kind = "cuda", .uuid = "GPU-1"}};
    }
    record::Device& device() { return machine.devices.front(); }
    std::string of(std::string_view name) const { return text(conditions(c, machine), name); }

    record::Case c;
    record::Machine machine;
};

TEST(Conditions, WhatIsNotRecordedIsNotThere) {
    EXPECT_THAT(conditions({}, {}), IsEmpty());
    EXPECT_THAT(conditions({.place = {.kind = "cuda"}}, {}), IsEmpty());
    Sample sample;
    EXPECT_EQ(conditions(sample.c, sample.machine),
              (record::NamedList{{"executed_on", std::string{"device"}},
                                 {"mode", std::string{"whole"}}}));
}

TEST(Conditions, TheTeamIsReadFromEvidenceAndInOlderFilesFromSettings) {
    Sample sample;
    sample.c.settings.push_back({"ranks", std::int64_t{8}});
    sample.c.settings.push_back({"machines", 2.0}); // as tools rewrite it
    EXPECT_EQ(sample.of("ranks"), "8");
    EXPECT_EQ(sample.of("machines"), "2");
    sample.c.evidence = {.machines = 4, .ranks = 16};
    EXPECT_EQ(sample.of("ranks"), "16");
    EXPECT_EQ(sample.of("machines"), "4");
}

TEST(Conditions, TheStateOfTheDeviceIsThatOfTheCasesOwn) {
    Sample sample;
    sample.machine.devices.push_back({.kind = "cuda", .index = 1, .uuid = "GPU-2", .ecc = true});
    EXPECT_EQ(sample.of("ecc"), "");
    sample.device().ecc = false;
    EXPECT_EQ(sample.of("ecc"), "off");
    sample.device().confidential = true;
    EXPECT_EQ(sample.of("confidential"), "on");
    sample.device().mode = "mig 1g.10gb";
    EXPECT_EQ(sample.of("mode"), "mig 1g.10gb");
}

TEST(Conditions, APowerLimitIsToldApartFromTheDevicesOwn) {
    Sample sample;
    EXPECT_EQ(sample.of("power_limit"), "");
    sample.device().power_limit_watts = 699.99;
    EXPECT_EQ(sample.of("power_limit"), "700 W"); // of a device whose default is not known
    sample.device().power_limit_default_watts = 700;
    EXPECT_EQ(sample.of("power_limit"), "default");
    sample.device().power_limit_watts = 500;
    EXPECT_EQ(sample.of("power_limit"), "500 W");
}

TEST(Conditions, EveryOneOfTheTableCanBeRecorded) {
    Sample sample;
    sample.c.evidence = {.machines = 4, .ranks = 16};
    for (const auto& [name, value] : {std::pair{"path", "tcp"},
                                      {"net_plugin", "IBext v8"},
                                      {"program_version", "3.33"},
                                      {"file_system", "ext4"}})
        sample.c.settings.push_back({name, std::string{value}});
    sample.device().ecc = true;
    sample.device().confidential = false;
    sample.device().power_limit_watts = 700;
    const auto all = conditions(sample.c, sample.machine);
    std::vector<std::string_view> names;
    for (const auto& condition : record::condition_table()) {
        EXPECT_EQ(record::find_condition(condition.name), &condition);
        if (condition.name != "energy_scope")
            names.push_back(condition.name); // of metrics, not of a case
    }
    ASSERT_EQ(all.size(), names.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].name, names[i]);
    EXPECT_EQ(record::find_condition("sparsity"), nullptr);
}

// --- courses of soaks --------------------------------------------------------------------------------

// How a case went over the hours of a soak: slow stretches and drift are found, noise is not.

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
} // namespace assay::record
