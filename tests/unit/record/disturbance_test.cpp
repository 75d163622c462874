// SPDX-License-Identifier: Apache-2.0
//
// Cases with replicas that something else disturbed: which count, what the case is then, and what a run says of it.
#include "counted.hpp"
#include "decide/check.hpp"
#include "record/summary.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace assay::record {
namespace {

using namespace testing;

constexpr int wanted = 5;

record::Case measured(const std::vector<double>& seconds) {
    record::Case c;
    c.benchmark = "test.case";
    c.library = "host";
    c.work = {{"bytes", 1000.0}};
    c.headline = "bandwidth";
    c.spread = record::Spread{.between_replicas = 0.03,
                              .between_runs = 0.15,
                              .degrees = 6,
                              .limit = 0.045,
                              .replicas = wanted,
                              .source = "memory",
                              .rules = record::current_rules};
    add_replicas(c, seconds);
    return c;
}

void use_cpu(record::Case& c, std::size_t replica, double share, const std::string& programs = "") {
    record::Values values{{"share", share}};
    if (!programs.empty()) values.push_back({"programs", programs});
    disturb(c.replicas[replica].telemetry, record::DisturbanceCode::foreign_cpu, values,
            "others ran");
}

TEST(Disturbed, ReplicasDoNotCountWhateverTheirValue) {
    record::Case c = measured({1.0, 0.5, 1.0, 1.9, 1.0, 1.0, 1.0});
    use_cpu(c, 1, 0.3);
    use_cpu(c, 3, 0.2);
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::ok) << c.reason;
    EXPECT_THAT(counted_indexes(c), ElementsAre(0, 2, 4, 5, 6));
    EXPECT_NEAR(value_of(c), 1000, 1e-9);
    EXPECT_EQ(c.replicas[1].status, record::Status::disturbed) << "the fast one as well";
    EXPECT_EQ(c.replicas[3].reason_code, record::ReasonCode::disturbed);
    ASSERT_TRUE(c.metrics[0].levels);
    EXPECT_NEAR(*c.metrics[0].levels->mean, 1000 / std::pow(0.5 * 1.9, 1.0 / 7), 1e-9);
    EXPECT_FALSE(c.metrics[0].levels->slow);
    EXPECT_EQ(c.metrics[0].levels->share, 1.0);
}

TEST(Disturbed, HalfOfTheWantedReplicasAreEnough) {
    record::Case c = measured({1.0, 2.0, 1.0, 2.0, 1.0});
    use_cpu(c, 1, 0.3);
    use_cpu(c, 3, 0.3);
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::ok) << c.reason;
    EXPECT_NEAR(value_of(c), 1000, 1e-9);
}

TEST(Disturbed, ReplicaThatWasNotOutweighsThoseThatWere) {
    record::Case c = measured({1.0, 3.0, 2.0, 3.0, 4.0});
    for (const auto& [replica, share] : {std::pair{1U, 0.3}, {2U, 0.1}, {3U, 0.2}, {4U, 0.9}})
        use_cpu(c, replica, share);
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::disturbed);
    EXPECT_EQ(c.reason_code, record::ReasonCode::disturbed);
    EXPECT_THAT(c.reason, HasSubstr("1 of 5 replicas were undisturbed: others ran"));
    EXPECT_EQ(text(c.reason_values, "cause"), "foreign_cpu");
    EXPECT_THAT(counted_indexes(c), ElementsAre(0));
    EXPECT_EQ(knowledge_of(c), record::Knowledge::at_least);
    use_cpu(c, 0, 0.5);
    conclude(c, wanted);
    EXPECT_THAT(counted_indexes(c), ElementsAre(1, 3)) << "the fastest that agree";
    c = measured({1.0, 3.0});
    for (const auto replica : {0U, 1U}) use_cpu(c, replica, 0.3);
    conclude(c, wanted);
    EXPECT_THAT(counted_indexes(c), ElementsAre(0)) << "none agree: the fastest proves that much";
    EXPECT_NEAR(value_of(c), 1000, 1e-9);
    EXPECT_FALSE(is_finished(c.status)) << "measured again by --resume";
}

TEST(Disturbed, ALowClockIsSeenAgainstTheOtherReplicas) {
    record::Case c = measured({1.0, 1.1, 1.0});
    c.replicas[0].telemetry.core_clock_hz = 3.0e9;
    c.replicas[1].telemetry.core_clock_hz = 2.7e9;
    c.replicas[2].telemetry.core_clock_hz = 2.95e9;
    mark_disturbed(c);
    mark_disturbed(c);
    EXPECT_EQ(undisturbed(c), 2);
    ASSERT_EQ(c.replicas[1].telemetry.disturbed_by.size(), 1U) << "said once";
    EXPECT_EQ(c.replicas[1].telemetry.disturbed_by[0].code, record::DisturbanceCode::clock_low);
    EXPECT_THAT(c.replicas[1].telemetry.disturbances, ElementsAre(HasSubstr("2.70 GHz")));
}

TEST(Disturbed, FilesWithoutASpreadKeepTheirRule) {
    record::Case c = measured({1.0, 2.0, 1.0});
    use_cpu(c, 1, 0.3);
    c.spread.reset();
    conclude(c, 3);
    EXPECT_EQ(c.status, record::Status::unstable) << "a factor of two";
    EXPECT_NEAR(value_of(c), 1000 / std::cbrt(2.0), 1e-9);
    EXPECT_FALSE(c.metrics[0].levels);
}

TEST(Disturbed, OneFasterReplicaOfFiveIsLuck) {
    record::Case c = measured({1.6, 1.6, 1.0, 1.6, 1.6});
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::ok) << c.reason;
    EXPECT_NEAR(value_of(c), 625, 1e-9);
    EXPECT_NEAR(*c.metrics[0].levels->slow, 1000, 1e-9) << "the others";
    c = measured({1.6, 1.0, 1.6});
    conclude(c, 3);
    EXPECT_EQ(c.reason_code, record::ReasonCode::two_levels) << "of three it may be the machine";
}

TEST(Disturbed, TwoLevelsAreNamedWithTheirShares) {
    record::Case c = measured({1.0, 1.0, 1.6, 1.0, 1.6});
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::ok) << "most are on the fastest";
    EXPECT_NEAR(value_of(c), 1000, 1e-9);
    EXPECT_NEAR(*c.metrics[0].levels->slow, 625, 1e-9);
    EXPECT_NEAR(*c.metrics[0].levels->share, 0.6, 1e-12);
    c = measured({1.0, 1.6, 1.6, 1.0, 1.6});
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::unstable);
    EXPECT_EQ(c.reason_code, record::ReasonCode::two_levels);
    EXPECT_EQ(c.reason, "40% of the replicas at 1.00 kB/s, the others at 625 B/s");
    EXPECT_NEAR(value_of(c), 1000, 1e-9);
}

TEST(Disturbed, AWideIntervalNamesTheValuesBehindIt) {
    record::Case c = measured({1.0, 1.12, 1.1});
    c.spread->replicas = 3;
    conclude(c, 3);
    EXPECT_EQ(c.status, record::Status::unstable);
    EXPECT_EQ(c.reason_code, record::ReasonCode::wide_interval);
    EXPECT_THAT(c.reason, HasSubstr("replicas 1.00 kB/s, 893 B/s, 909 B/s"));
}

TEST(Disturbed, DriftOfMostReplicasIsUnstableAndOfOneIsNot) {
    record::Case c = measured({1.0, 1.0, 1.0, 1.0, 1.0});
    const auto drift = [&](std::size_t replica) {
        record::set_conclusion(c.replicas[replica], {.status = record::Status::unstable,
                                                     .code = record::ReasonCode::drift,
                                                     .reason = "it drifts"});
    };
    drift(0);
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::ok) << c.reason;
    drift(2);
    drift(4);
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::unstable);
    EXPECT_EQ(c.reason_code, record::ReasonCode::drift);
}

TEST(Disturbed, VerifyRecomputesWhatCounts) {
    record::Case c = measured({1.0, 1.9, 1.0, 1.0, 1.0, 1.0});
    use_cpu(c, 1, 0.3);
    conclude(c, wanted);
    record::Run run;
    run.cases = {c};
    const auto of_metrics = [](const record::Run& checked) {
        std::vector<std::string> paths;
        for (const auto& finding : decide::check_summaries(checked))
            if (finding.path.find("metrics") != std::string::npos) paths.push_back(finding.path);
        return paths;
    };
    EXPECT_THAT(of_metrics(run), IsEmpty());
    run.cases[0].metrics[0].levels->mean = 1.0;
    EXPECT_THAT(of_metrics(run), ElementsAre(HasSubstr("levels.mean")));
}

TEST(Busy, SaysWhoUsedTheMachineAndWhatCameOfIt) {
    record::Run run;
    run.cases = {measured({1, 1, 1, 1, 1, 1}), measured({1, 1, 1, 1, 1}),
                 measured({1, 1, 1, 1, 1})};
    use_cpu(run.cases[0], 2, 0.2, "cc1plus, chromium");
    for (std::size_t i = 0; i < 4; ++i) use_cpu(run.cases[1], i, 0.1, "chromium");
    disturb(run.cases[1].replicas[4].telemetry, record::DisturbanceCode::steal, {{"share", 0.1}},
            "steal");
    for (auto& c : run.cases) conclude(c, wanted);
    const record::Busy busy = busy_of(run);
    EXPECT_EQ(busy.cases, 3);
    EXPECT_EQ(busy.measured_again, 1);
    EXPECT_EQ(busy.disturbed, 1);
    EXPECT_EQ(busy.windows, 16);
    EXPECT_EQ(busy.disturbed_windows, 6);
    EXPECT_EQ(busy.cause, record::DisturbanceCode::foreign_cpu);
    EXPECT_NEAR(busy.share, 0.2, 1e-12);
    EXPECT_THAT(busy.programs, ElementsAre("chromium", "cc1plus"));
    run.cases.resize(0);
    EXPECT_FALSE(busy_of(run).cause);
}

} // namespace
} // namespace assay::record
