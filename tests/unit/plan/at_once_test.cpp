// SPDX-License-Identifier: Apache-2.0
//
// Which devices of the node a suite measures, at once or in turn, under which names; and the last stage, which heats all
// of it.

#include "machine/topology.hpp"
#include "plan/planner.hpp"
#include "plan/suite.hpp"
#include "plan/together.hpp"
#include "run/order.hpp"
#include "run/together.hpp"
#include "support/catalogue_maker.hpp"
#include "support/made_plan.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::plan;
using namespace testing;
using made::names_of;

const Catalogue mixed = made::mixed_catalogue();

/// A suite of these cases, on two sockets with so many devices.
Plan plan_of(const std::string& cases, int devices, std::vector<std::string> chosen = {},
             const std::string& more = R"("devices": "at_once")") {
    made::TemporaryFolder folder;
    const auto path = folder.write(
        "mine.json",
        fmt::format(
            R"({{"schema": "assay.suite/1", "name": "mine", "description": "for a test", {}, "cases": [{}]}})",
            more, cases));
    PlanRequest wanted{.what = {path.string()}, .devices = std::move(chosen)};
    wanted.shape = machine::described_shape("pack:2 numa:1 core:4 pu:2");
    for (int i = 0; i < devices; ++i)
        wanted.machine.devices.push_back(
            {.kind = "cuda", .index = i, .uuid = fmt::format("GPU-{}", i)});
    return made::plan_of(mixed, wanted);
}

constexpr const char* stream = R"({"benchmark": "memory.stream"})";

TEST(AtOnce, MeasuresEveryDeviceUnderTheNameItHasAlone) {
    const auto plan = plan_of(stream, 3);
    EXPECT_THAT(names_of(plan),
                ElementsAre("memory.stream[cuda]@cuda", "memory.stream[cuda]@cuda:1",
                            "memory.stream[cuda]@cuda:2"));
    EXPECT_THAT(run::order_of(plan, 7, 0), ElementsAre(0));
    EXPECT_THAT(siblings_of(plan, 2), ElementsAre(0, 1, 2));
    EXPECT_DOUBLE_EQ(plan.expected_seconds, plan_of(stream, 1).expected_seconds);
    EXPECT_NE(plan.cases[0].share->usable, plan.cases[1].share->usable);
}

TEST(AtOnce, KeepsOneDeviceAsItWas) {
    for (const auto& plan : {plan_of(stream, 1), plan_of(stream, 8, {"3"})}) {
        ASSERT_THAT(plan.cases, SizeIs(1));
        EXPECT_FALSE(plan.cases[0].share);
        EXPECT_FALSE(plan.cases[0].with_previous);
    }
    EXPECT_THAT(names_of(plan_of(stream, 8, {"3"})), ElementsAre("memory.stream[cuda]@cuda:3"));
    EXPECT_THAT(names_of(plan_of(stream, 4, {}, R"("replicas": 2)")),
                ElementsAre("memory.stream[cuda]@cuda"))
        << "a suite that does not say";
}

TEST(AtOnce, LeavesOtherCasesInTurn) {
    const auto plan = plan_of(R"({"benchmark": "memory.stream", "devices": "in_turn"},
                                 {"benchmark": "links.all"}, {"benchmark": "memory.copy"})",
                              2);
    EXPECT_THAT(names_of(plan),
                ElementsAre("memory.stream[cuda]@cuda", "memory.stream[cuda]@cuda:1",
                            "links.all[cuda]@cuda", "memory.copy[host]"));
    EXPECT_THAT(run::order_of(plan, {}, 0), SizeIs(4));
    EXPECT_THAT(plan.cases[2].devices, SizeIs(2));
}

TEST(AtOnce, MeasuresOneAloneWhereThereAreOthers) {
    const std::string cases =
        std::string{stream} + R"(, {"benchmark": "memory.stream", "devices": "alone"})";
    EXPECT_THAT(names_of(plan_of(cases, 2)),
                ElementsAre("memory.stream[cuda]@cuda", "memory.stream[cuda]@cuda:1",
                            "memory.stream[cuda]@cuda alone=true"));
    EXPECT_THAT(names_of(plan_of(cases, 1)), SizeIs(1));
    EXPECT_THAT(names_of(plan_of(cases, 4, {"2"})), ElementsAre("memory.stream[cuda]@cuda:2"));
}

TEST(AtOnce, RejectsUnknownWords) {
    for (const char* bad : {"usual", "all", "", "at once"})
        EXPECT_THAT(
            parse_suite(
                fmt::format(
                    R"({{"schema": "assay.suite/1", "name": "n", "description": "d", "devices": "{}",
                         "cases": [{{"benchmark": "memory.copy"}}]}})",
                    bad),
                "mine.json")
                .error()
                .message,
            AllOf(HasSubstr("devices"), HasSubstr("in_turn, at_once or alone")))
            << bad;
}

constexpr const char* heated = R"({"benchmark": "memory.stream"}, {"benchmark": "memory.copy"},
    {"benchmark": "memory.copy", "stress": true}, {"benchmark": "memory.stream", "stress": true})";
constexpr const char* staged = R"("devices": "at_once", "stages": true, "replicas": 5)";

TEST(Stress, HeatsDevicesAndHostInOneWindow) {
    const auto plan = plan_of(heated, 2, {}, staged);
    EXPECT_THAT(names_of(plan),
                ElementsAre("memory.stream[cuda]@cuda", "memory.stream[cuda]@cuda:1",
                            "memory.copy[host]", "memory.stream[cuda]@cuda stress=true",
                            "memory.stream[cuda]@cuda:1 stress=true",
                            "memory.copy[host] stress=true"));
    EXPECT_THAT(siblings_of(plan, 5), ElementsAre(3, 4, 5));
    EXPECT_THAT(run::order_of(plan, {}, 0), UnorderedElementsAre(0, 2, 3));
    // The host's case leaves a core to each device.
    std::vector<int> all;
    for (const auto i : {3U, 4U, 5U})
        for (const auto& core : plan.cases[i].share->usable)
            all.insert(all.end(), core.begin(), core.end());
    EXPECT_THAT(all, UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    EXPECT_THAT(plan.cases[5].share->usable, SizeIs(6));
}

TEST(Stress, HasOneReplica) {
    const auto plan = plan_of(heated, 1, {}, staged);
    const auto rounds = run::rounds_of(plan);
    EXPECT_EQ(rounds.back().stage, record::StageName::stress);
    EXPECT_EQ(rounds.back().last, 1);
    EXPECT_EQ(plan.cases[0].spread->replicas, 5);
    EXPECT_EQ(plan.cases.back().spread->replicas, 1);
    const auto calm =
        plan_of(R"({"benchmark": "memory.stream"}, {"benchmark": "memory.copy"})", 1, {}, staged);
    EXPECT_LT(plan.expected_seconds, calm.expected_seconds * 1.3) << "two windows of eleven";
}

TEST(Stress, LeavesAnOnlyHostAllItsCores) {
    const auto plan = plan_of(heated, 0, {}, staged);
    EXPECT_THAT(names_of(plan), ElementsAre("memory.copy[host]", "memory.copy[host] stress=true"));
    EXPECT_FALSE(plan.cases[1].share);
    EXPECT_FALSE(plan.cases[1].with_previous);
}

// --- what is said of it -----------------------------------------------------------------------------

TEST(Course, ComparesTheLastQuarterWithTheFirstTenth) {
    record::Replica replica{.status = record::Status::ok};
    for (int i = 0; i < 100; ++i) replica.values.push_back(i < 66 ? 1 : 1 / 0.94);
    run::add_course(replica);
    EXPECT_NEAR(record::number(replica.extra, "late_to_early").value_or(0), 0.94, 1e-9);
    record::Replica shorter{.status = record::Status::ok, .values = std::vector<double>(9, 1)};
    run::add_course(shorter);
    EXPECT_THAT(shorter.extra, IsEmpty());
    record::Replica wrong{.status = record::Status::incorrect,
                          .values = std::vector<double>(100, 1)};
    run::add_course(wrong);
    EXPECT_THAT(wrong.extra, IsEmpty());
}

} // namespace
