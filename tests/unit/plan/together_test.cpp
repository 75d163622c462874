// SPDX-License-Identifier: Apache-2.0
//
// Which cases are measured at once, on which CPUs, under which names; and a case beside a load.

#include "plan/beside.hpp"
#include "plan/planner.hpp"
#include "plan/together.hpp"
#include "run/order.hpp"
#include "support/catalogue_maker.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PlanRequest request(const std::string& what, const std::string& together, int devices = 2) {
    PlanRequest wanted{.what = {what}, .together = together};
    wanted.shape = machine::described_shape("pack:2 numa:1 core:4 pu:2");
    for (int i = 0; i < devices; ++i)
        wanted.machine.devices.push_back(
            {.kind = "cuda", .index = i, .uuid = fmt::format("GPU-{}", i)});
    return wanted;
}

const Catalogue mixed = harness::made::mixed_catalogue();

Plan plan_of(const PlanRequest& wanted) {
    const auto plan = make_plan(mixed, wanted);
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
    return plan.value_or(Plan{});
}
std::string error_of(const PlanRequest& wanted) {
    const auto plan = make_plan(mixed, wanted);
    EXPECT_FALSE(plan);
    if (plan) return {};
    EXPECT_EQ(plan.error().fault, Fault::usage);
    return plan.error().message;
}
std::vector<std::string> names_of(const Plan& plan) {
    std::vector<std::string> names;
    for (const auto& planned : plan.cases) names.push_back(record::identity(empty_case(planned)));
    return names;
}
using Cores = std::vector<std::vector<int>>;

TEST(Together, SocketsHaveTheirOwnCoresAndNames) {
    const auto plan = plan_of(request("memory.copy", "sockets"));
    EXPECT_THAT(names_of(plan), ElementsAre("memory.copy[host] together=sockets:2 part=1/2",
                                            "memory.copy[host] together=sockets:2 part=2/2"));
    EXPECT_FALSE(plan.cases[0].with_previous);
    EXPECT_TRUE(plan.cases[1].with_previous);
    EXPECT_EQ(plan.cases[0].share->usable, (Cores{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(plan.cases[1].share->usable, (Cores{{8, 9}, {10, 11}, {12, 13}, {14, 15}}));
    EXPECT_EQ(plan.cases[1].share->sockets, 1);
    EXPECT_THAT(plan.cases[0].parameters, IsEmpty()) << "the module knows nothing of it";
}

TEST(Together, PartsOfTheCpusShareNone) {
    const auto plan = plan_of(request("memory.copy", "cpus:3"));
    ASSERT_THAT(plan.cases, SizeIs(3));
    std::vector<int> all;
    for (const auto& planned : plan.cases)
        for (const auto& core : planned.share->usable)
            all.insert(all.end(), core.begin(), core.end());
    EXPECT_THAT(all, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    auto quota = request("memory.copy", "cpus:2");
    quota.machine.usable_cores = 2;
    EXPECT_EQ(plan_of(quota).cases[1].share->usable, (Cores{{8, 9}}));
    EXPECT_THAT(plan_of(request("memory.copy", "numa")).cases, SizeIs(2));
}

TEST(Together, EachDeviceIsAPlaceOfItsOwn) {
    const auto plan = plan_of(request("memory.stream", "devices", 3));
    EXPECT_THAT(names_of(plan), ElementsAre("memory.stream[cuda]@cuda together=devices:3",
                                            "memory.stream[cuda]@cuda:1 together=devices:3",
                                            "memory.stream[cuda]@cuda:2 together=devices:3"));
    std::vector<std::size_t> cores;
    for (const auto& planned : plan.cases) cores.push_back(planned.share->usable.size());
    EXPECT_THAT(cores, ElementsAre(2, 3, 3)) << "their CPUs do not overlap";
    auto chosen = request("memory.stream", "devices", 3);
    chosen.devices = {"0", "2"};
    EXPECT_THAT(names_of(plan_of(chosen)),
                ElementsAre("memory.stream[cuda]@cuda together=devices:2",
                            "memory.stream[cuda]@cuda:2 together=devices:2"));
}

TEST(Together, TakesTheTimeOfOne) {
    const auto alone = plan_of(request("memory.copy", ""));
    const auto plan = plan_of(request("memory.copy", "cpus:8"));
    EXPECT_DOUBLE_EQ(plan.expected_seconds, alone.expected_seconds);
    EXPECT_NE(plan.digest, alone.digest);
    EXPECT_THAT(order_of(plan, 7, 1), ElementsAre(0));
    EXPECT_THAT(siblings_of(plan, 5), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    auto tight = request("memory.copy", "cpus:8");
    tight.budget_seconds = 6;
    auto one = request("memory.copy", "");
    one.budget_seconds = 6;
    const double expected = plan_of(one).cases[0].protocol.budget_seconds;
    for (const auto& planned : plan_of(tight).cases)
        EXPECT_DOUBLE_EQ(planned.protocol.budget_seconds, expected);
}

TEST(Together, SaysWhyThereIsNothing) {
    EXPECT_THAT(error_of(request("memory.stream", "devices", 1)), HasSubstr("there is one device"));
    EXPECT_THAT(error_of(request("memory.copy", "devices")), HasSubstr("runs on the host"));
    EXPECT_THAT(error_of(request("memory.stream", "numa")), HasSubstr("runs on a device"));
    EXPECT_THAT(error_of(request("links.all", "devices")), HasSubstr("whole machine by itself"));
    EXPECT_THAT(error_of(request("memory.copy", "cpus:9")), HasSubstr("8 cores"));
    auto small = request("memory.copy", "sockets");
    small.shape = machine::described_shape("pack:1 core:1 pu:1");
    EXPECT_THAT(error_of(small), HasSubstr("one socket"));
    for (const char* bad : {"cpus", "cpus:", "cpus:1", "cpus:1025", "cpus:-2", "cpus:2x", "gpu"})
        EXPECT_THAT(error_of(request("memory.copy", bad)),
                    AllOf(HasSubstr("--together"), HasSubstr("cpus:N")))
            << bad;
}

TEST(Together, InASuiteACaseThatHasNoPlacesIsSkipped) {
    harness::made::TemporaryFolder folder;
    const auto path = folder.write("both.json", R"({
      "schema": "assay.suite/1", "name": "both", "description": "for a test",
      "cases": [ { "benchmark": "memory.copy" }, { "benchmark": "memory.copy", "together": 2 },
                 { "benchmark": "memory.stream", "together": "devices" } ] })");
    auto wanted = request(path.string(), "", 1);
    const auto plan = plan_of(wanted);
    EXPECT_THAT(names_of(plan),
                ElementsAre("memory.copy[host]", "memory.copy[host] together=cpus:2 part=1/2",
                            "memory.copy[host] together=cpus:2 part=2/2",
                            "memory.stream[cuda]@cuda together=devices"));
    EXPECT_THAT(plan.cases[3].skip_reason, HasSubstr("there is one device"));
    EXPECT_EQ(plan.cases[3].skip_code, record::ReasonCode::not_applicable);
    EXPECT_THAT(plan.cases[0].skip_reason, IsEmpty());
}

TEST(Together, ASoakLoadsAnOnlyDeviceByItself) {
    harness::made::TemporaryFolder folder;
    const auto path = folder.write("soak.json", R"({
      "schema": "assay.suite/1", "name": "soak", "description": "for a test", "soak_seconds": 60,
      "cases": [ { "benchmark": "memory.stream", "together": "devices" } ] })");
    EXPECT_THAT(names_of(plan_of(request(path.string(), "", 2))), SizeIs(2));
    const auto plan = plan_of(request(path.string(), "", 1));
    EXPECT_THAT(names_of(plan), ElementsAre("memory.stream[cuda]@cuda soak=true"));
    EXPECT_THAT(plan.cases[0].skip_reason, IsEmpty());
    // Once, where it does so anyway.
    const auto both = folder.write("both.json", R"({
      "schema": "assay.suite/1", "name": "soak", "description": "for a test", "soak_seconds": 60,
      "cases": [ { "benchmark": "memory.stream", "together": "devices" },
                 { "benchmark": "memory.stream" } ] })");
    EXPECT_THAT(names_of(plan_of(request(both.string(), "", 1))),
                ElementsAre("memory.stream[cuda]@cuda soak=true"));
}

// --- beside a load --------------------------------------------------------------------------------

TEST(Beside, TakesTurnsWithAndWithoutTheLoadOnTheSameCpus) {
    const auto turns = beside(mixed, request("memory.copy", ""), "memory.copy on other cores");
    ASSERT_TRUE(turns) << turns.error().message;
    ASSERT_THAT(turns->runs, SizeIs(2));
    const auto& alone = turns->runs[0].plan.cases.at(0);
    const auto& loaded = turns->runs[1].plan.cases.at(0);
    EXPECT_EQ(record::identity(empty_case(alone)), "memory.copy[host] part=1/2");
    EXPECT_EQ(record::identity(empty_case(loaded)), record::identity(empty_case(alone)));
    EXPECT_EQ(alone.share->usable, loaded.share->usable);
    EXPECT_THAT(alone.loads, IsEmpty());
    ASSERT_THAT(loaded.loads, SizeIs(1));
    EXPECT_EQ(loaded.loads[0].share->usable.front(), (std::vector{8, 9}));
    EXPECT_NE(turns->runs[0].plan.digest, turns->runs[1].plan.digest);
    EXPECT_THAT(turns->runs[0].pairing->changes, IsEmpty());
    EXPECT_EQ(record::text(turns->runs[1].pairing->changes, "beside"),
              "memory.copy on other cores");
    EXPECT_EQ(turns->runs[0].pairing->order, "ABBA");
}

TEST(Beside, LoadsAllOtherDevices) {
    const auto turns =
        beside(mixed, request("memory.stream", "", 3), "memory.stream on other devices");
    ASSERT_TRUE(turns) << turns.error().message;
    const auto& loaded = turns->runs[1].plan.cases.at(0);
    EXPECT_EQ(loaded.devices[0].index, 0);
    ASSERT_THAT(loaded.loads, SizeIs(2));
    EXPECT_EQ(loaded.loads[0].devices[0].index, 1);
    EXPECT_EQ(loaded.loads[1].devices[0].index, 2);
}

TEST(Beside, SaysWhatIsWrong) {
    const auto error_with = [](const std::string& load, int devices = 2) {
        const auto turns = beside(mixed, request("memory.stream", "", devices), load);
        EXPECT_FALSE(turns) << load;
        return turns ? "" : turns.error().message;
    };
    EXPECT_THAT(error_with("memory.copy"), HasSubstr("on other cores"));
    EXPECT_THAT(error_with(""), HasSubstr("on other cores"));
    EXPECT_THAT(error_with(" on other cores"), HasSubstr("--while"));
    EXPECT_THAT(error_with("memory.copi on other cores"), HasSubstr("memory.copy"));
    EXPECT_THAT(error_with("memory.copy threads on other cores"), HasSubstr("PARAM=VALUE"));
    EXPECT_THAT(error_with("memory.copy x=1 on other cores"), HasSubstr("no parameter"));
    EXPECT_THAT(error_with("memory.copy on other devices"), HasSubstr("runs on the host"));
    EXPECT_THAT(error_with("memory.stream on other cores"), HasSubstr("runs on a device"));
    EXPECT_THAT(error_with("memory.stream on other devices", 1), HasSubstr("no other device"));
    EXPECT_THAT(error_with("* on other cores"), HasSubstr("the load is one"));
}

} // namespace
