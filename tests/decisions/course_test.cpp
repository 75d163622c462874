// SPDX-License-Identifier: Apache-2.0
//
// Rows about several runs of a node, about its own faults, and about input that is not as it should be.

#include "cli/program.hpp"
#include "good_nodes.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using record::DisturbanceCode;
using record::Run;
using ::testing::AnyOf;

GoodNode bare_host(int cores = 16) {
    for (const auto& kind : host_kinds())
        if (kind.name == fmt::format("x86-{}-bare", cores)) return good_host(kind);
    throw std::logic_error{"no such host"};
}
GoodNode h100() { return good_chip("nvidia-h100-sxm5-80gb"); }

/// "PASS", and what is open where it is not.
Answer judged(const Folder& folder, const Words& more = {}) {
    auto answer = check({folder.path()}, more);
    EXPECT_NE(verdict_of(answer), "") << "exit code " << answer.code << ": " << answer.error;
    return answer;
}
std::string open_in(const Answer& answer) {
    std::string text = first_lines(answer);
    for (const auto& node : nodes_of(answer))
        text += fmt::format("{}: {} runs\n", node.name, node.runs.size()) + open_checks(node);
    return text;
}

void expect(const char* verdict, const Folder& folder, const Words& more = {},
            std::string_view why = "") {
    const auto answer = judged(folder, more);
    EXPECT_EQ(verdict_of(answer), verdict) << why << "\n" << open_in(answer);
}
void expect(const char* verdict, const Run& run, const Words& more = {}) {
    const Folder folder;
    write_small(folder.path(), "one", run);
    expect(verdict, folder, more);
}
void expect_not(const char* verdict, const Run& run, const Words& more = {}) {
    const Folder folder;
    write_small(folder.path(), "one", run);
    const auto answer = judged(folder, more);
    EXPECT_NE(verdict_of(answer), verdict) << open_in(answer);
}

/// Good runs, then bad ones, an hour after each other, and one good one more.
void expect_fail_of_course(const Run& good, const Wanted& wanted) {
    Run bad = good;
    std::erase_if(bad.cases, [&](const auto& c) { return !wanted(c); });
    slow_down(bad, wanted, 1.6);
    const Folder folder;
    int hours = 0;
    for (int i = 0; i < 3; ++i, ++hours)
        write_small(folder.path(), fmt::format("{:02}", hours), later(good, hours));
    expect("PASS", folder, {}, "before it was bad");
    for (int i = 0; i < 30; ++i, ++hours)
        write_small(folder.path(), fmt::format("{:02}", hours), later(bad, hours));
    expect("FAIL", folder, {}, "after 30 bad runs");
    write_small(folder.path(), fmt::format("{:02}", hours), later(good, hours));
    expect("FAIL", folder, {}, "after one more good run");
    // Another board in it: the node begins anew.
    auto repaired = later(good, hours + 1);
    repaired.tags = {};
    repaired.tags.push_back({"repair", std::string{"new board"}});
    write_small(folder.path(), "repaired", repaired);
    expect("PASS", folder, {}, "after a repair");
}

TEST(CourseOfNode, FailsHostThatTurnedBad) {
    expect_fail_of_course(bare_host().run, on_host("memory.stream kernel=triad threads=all"));
}
TEST(CourseOfNode, FailsDeviceThatTurnedBad) {
    expect_fail_of_course(h100().run, on_devices("memory.stream kernel=triad"));
}
TEST(CourseOfNode, FailsDeviceThatIsBadInNewestRun) {
    const auto good = h100().run;
    auto bad = good;
    slow_down(bad, on_devices("gemm.square precision=bf16"), 1.6);
    const Folder folder;
    for (int i = 0; i < 9; ++i) write_small(folder.path(), std::to_string(i), later(good, i));
    write_small(folder.path(), "bad", later(bad, 10));
    expect("FAIL", folder);
}

// --- faults of the node itself ----------------------------------------------------------------------------------

TEST(OwnFaults, DoNotExcuseHost) {
    auto run = bare_host().run;
    for (auto& c : run.cases)
        for (auto& replica : c.replicas)
            record::disturb(replica.telemetry, DisturbanceCode::too_hot, {}, "too hot");
    for (auto& c : run.cases) conclude(c);
    expect("FAIL", run);
}
TEST(OwnFaults, DoNotExcuseDevice) {
    auto run = h100().run;
    for (auto& c : run.cases) {
        if (c.place.kind == "host") continue;
        for (auto& replica : c.replicas)
            record::disturb(replica.telemetry, DisturbanceCode::device_slowed, {}, "slowed");
        conclude(c);
    }
    expect("FAIL", run);
}
TEST(OwnFaults, CountWithValuesFarAboveTheirLimits) {
    // Multiply-adds clear their limit by a third, and the device throttled all the same.
    auto run = h100().run;
    mark(run, on_devices("peak.fma precision=fp64"), DisturbanceCode::device_slowed);
    expect("FAIL", run);
}
TEST(OwnFaults, AreFoundInOneDeviceOfEight) {
    auto run = good_chip("nvidia-h100-sxm5-80gb", 8).run;
    slow_down(
        run,
        [](const record::Case& c) {
            return c.benchmark == "memory.stream" && c.place.kind == "cuda" && c.place.index == 5;
        },
        1.4);
    const Folder folder;
    write_small(folder.path(), "eight", run);
    const auto answer = check({folder.path()});
    const auto nodes = nodes_of(answer);
    ASSERT_EQ(nodes.size(), 1U) << answer.error;
    EXPECT_EQ(nodes.front().verdict, "FAIL");
    for (const auto& one : nodes.front().checks)
        if (one.verdict == "FAIL") EXPECT_EQ(one.place, "cuda:5") << one.id;
}
TEST(OwnFaults, AreSlowReplicasOfDevice) {
    auto run = h100().run;
    slow_down(run, on_devices("memory.stream kernel=copy"), 1.5, half_of_replicas());
    expect_not("PASS", run);
}
TEST(OwnFaults, AreMissingDevices) {
    auto run = good_chip("nvidia-h100-sxm5-80gb", 8).run;
    drop_device(run, 7);
    run.schedule = record::Schedule{.gates = record::Gates{.expected = {"gpu=8"}}};
    expect("FAIL", run);
}

TEST(OutsideLoad, KeepsHostOpenWhereItIsSlow) {
    auto run = bare_host().run;
    const auto triad = on_host("memory.stream kernel=triad threads=all");
    slow_down(run, triad, 1.6);
    for (auto& c : run.cases) {
        if (!triad(c)) continue;
        for (auto& replica : c.replicas) {
            replica.telemetry.foreign_cpu = 0.5;
            record::disturb(replica.telemetry, DisturbanceCode::foreign_cpu, {{"share", 0.5}},
                            "other processes used 50% of the CPU time");
        }
        conclude(c);
    }
    expect("INCONCLUSIVE", run);
}

TEST(Parts, AreJudgedAlone) {
    auto run = h100().run;
    slow_down(run, on_devices("memory.stream"), 1.6);
    expect("FAIL", run, {"--part", "devices"});
    expect("PASS", run, {"--part", "host"});
    std::erase_if(run.cases, [](const auto& c) { return c.place.kind != "host"; });
    expect_not("PASS", run, {"--part", "devices"});
    expect("PASS", bare_host().run, {"--part", "host"});
    expect_not("PASS", bare_host().run, {"--part", "devices"});
}

// --- nothing was measured ---------------------------------------------------------------------------------------

TEST(NothingMeasured, IsNeverPass) {
    const Folder folder;
    const auto add = [&](record::Run run, const std::string& name) {
        rename_machine(run, name);
        run.campaign = name;
        write_small(folder.path(), name, run);
    };
    for (const auto& node : {bare_host(), h100()}) {
        auto none = node.run;
        none.cases.clear();
        add(none, node.name + "-none");
        auto interrupted = node.run;
        interrupt(interrupted, 0);
        add(interrupted, node.name + "-interrupted");
        auto skipped = node.run;
        for (auto& c : skipped.cases) {
            c.replicas.clear();
            c.metrics.clear();
            c.status = record::Status::skipped;
            c.reason = "does not apply";
            c.reason_code = record::ReasonCode::not_applicable;
        }
        add(skipped, node.name + "-skipped");
    }
    for (const Words& more : {Words{}, Words{"--part", "devices"}, Words{"--part", "host"}}) {
        const auto answer = judged(folder, more);
        EXPECT_NE(verdict_of(answer), "PASS");
        const auto nodes = nodes_of(answer);
        EXPECT_GE(nodes.size(), 4U);
        for (const auto& node : nodes) EXPECT_NE(node.verdict, "PASS") << node.campaign;
    }
    const Folder empty;
    EXPECT_NE(check({empty.path()}).code, 0);
}

// --- bad input --------------------------------------------------------------------------------------------------

/// A device of each maker in one node.
GoodNode mixed() {
    auto node = h100();
    auto other = good_chip("amd-mi210");
    for (auto device : other.run.machine.devices) {
        device.pci_address = "0000:90:00.0";
        node.run.machine.devices.push_back(device);
    }
    for (std::size_t i = 0; i < other.run.cases.size(); ++i)
        if (other.run.cases[i].place.kind != "host") {
            node.run.cases.push_back(other.run.cases[i]);
            node.bases.push_back(other.bases[i]);
        }
    return node;
}

TEST(MixedMakers, PassTogether) { expect("PASS", mixed().run); }
TEST(MixedMakers, FailByLimitOfEachMaker) {
    for (const auto* kind : {"cuda", "hip"}) {
        auto run = mixed().run;
        slow_down(
            run,
            [&](const record::Case& c) {
                return c.benchmark == "memory.stream" && c.place.kind == kind;
            },
            1.5);
        const Folder folder;
        write_small(folder.path(), "mixed", run);
        const auto answer = check({folder.path()});
        ASSERT_EQ(nodes_of(answer).size(), 1U) << answer.error;
        const auto node = nodes_of(answer).front();
        EXPECT_EQ(node.verdict, "FAIL") << kind;
        for (const auto& one : node.checks)
            if (one.verdict == "FAIL") EXPECT_EQ(one.place, kind) << one.id;
    }
}

/// The same node, by a name that no data sheet has.
Run unknown_device(Run run) {
    for (auto& device : run.machine.devices) device.name = "NVIDIA Q7000 Unheard-of";
    for (auto& c : run.cases) {
        if (c.place.kind == "host") continue;
        c.ceiling = {.source = "configs/hardware has no such device"};
        c.other_ceilings.clear();
    }
    return run;
}

TEST(DeviceWithoutDataSheet, IsJudgedByOtherLimits) {
    const auto run = unknown_device(h100().run);
    const Folder folder;
    write_small(folder.path(), "unknown", run);
    const auto answer = check({folder.path()});
    ASSERT_EQ(nodes_of(answer).size(), 1U) << answer.error;
    const auto node = nodes_of(answer).front();
    EXPECT_EQ(node.verdict, "INCONCLUSIVE") << open_checks(node);
    EXPECT_TRUE(has(node, "device-latency", "")) << open_checks(node);
    EXPECT_TRUE(has(node, "device-copy", "no_datasheet")) << open_checks(node);
    for (const auto& one : node.checks)
        if (one.place == "host") EXPECT_THAT(one.verdict, AnyOf("PASS", "WARN")) << one.id;
    auto slow = run;
    slow_down(slow, on_devices("memory.latency"), 6);
    expect("FAIL", slow);
}

TEST(FolderOfTwoMachines, JudgesEachByItsOwnRuns) {
    const Folder folder;
    const auto good = h100();
    auto bad = h100();
    bad.name = "another";
    bad.run.campaign = bad.name;
    rename_machine(bad.run, bad.name);
    slow_down(bad.run, on_devices("memory.stream"), 1.6);
    write_small(folder.path(), good.name, good.run);
    write_small(folder.path(), bad.name, bad.run);
    const auto found = nodes_of(check({folder.path()}));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(node_of(found, good.name).verdict, "PASS");
    EXPECT_EQ(node_of(found, bad.name).verdict, "FAIL");
}

TEST(FolderOfTwoMachines, AreNotOneInOneCampaign) {
    const Folder folder;
    const auto good = h100();
    auto other = good.run;
    rename_machine(other, "another");
    write_small(folder.path(), "one", good.run);
    write_small(folder.path(), "other", later(other, 1));
    EXPECT_EQ(nodes_of(check({folder.path()})).size(), 2U);
}

TEST(OlderFiles, OfBothVersionsAreJudged) {
    const std::filesystem::path samples{ASSAY_SAMPLES};
    const auto first = samples / "zen4-2cores-quick.json"; // assay.run/1
    const auto second = samples / "h100-80gb-quick.json";  // assay.run/2, without what came later
    for (const auto& file : {first, second}) {
        const auto answer = check({file});
        const auto nodes = nodes_of(answer);
        ASSERT_EQ(nodes.size(), 1U) << file << answer.error;
        EXPECT_EQ(nodes.front().runs.size(), 1U) << "the file was not used";
        EXPECT_THAT(nodes.front().verdict, AnyOf("PASS", "WARN", "INCONCLUSIVE"))
            << file << "\n"
            << open_checks(nodes.front());
    }
    const auto both = check({first, second});
    EXPECT_EQ(nodes_of(both).size(), 2U) << both.error;
}

TEST(DamagedFile, IsNamedAndNoPass) {
    const Folder folder;
    const auto good = h100();
    const auto file = write_small(folder.path(), "good", good.run);
    expect("PASS", folder);
    folder.write("broken.json", "{ \"schema\": \"assay.run/2\", \"run\": ");
    std::filesystem::create_directories(folder.path() / "broken");
    folder.write("broken/run.json", "{ \"schema\": \"assay.run/2\", \"run\": ");
    const auto answer = check({folder.path()});
    EXPECT_NE(verdict_of(answer), "PASS");
    ASSERT_TRUE(answer.json.is_object()) << answer.error;
    EXPECT_GE(answer.json.at("problems").size(), 1U);
}

} // namespace
} // namespace assay::decisions
