// SPDX-License-Identifier: Apache-2.0
//
// Rows about the last stage of an acceptance run: 40 s in which all devices and cores work at the same time.

#include "cli/program.hpp"
#include "good_nodes.hpp"
#include "record/summary.hpp"
#include "run/together.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using record::DisturbanceCode;
using record::Run;

const Run& h100() {
    static const auto node = good_chip("nvidia-h100-sxm5-80gb");
    return node.run;
}
const Run& eight() {
    static const auto node = good_chip("nvidia-h100-sxm5-80gb", 8);
    return node.run;
}
Run host(const std::string& name) {
    for (const auto& kind : host_kinds())
        if (kind.name == name) return good_host(kind).run;
    throw std::logic_error{"no such host"};
}

Node judged(const Run& run) {
    const Folder folder;
    write_small(folder.path(), "one", run);
    const auto answer = check({folder.path()});
    const auto nodes = nodes_of(answer);
    EXPECT_EQ(nodes.size(), 1U) << answer.error;
    return nodes.empty() ? Node{} : nodes.front();
}

Wanted under_stress(const std::string& kind, int index = -1) {
    return [=](const record::Case& c) {
        return record::find(c.parameters, "stress") != nullptr && c.place.kind == kind &&
               (index < 0 || c.place.index == index);
    };
}

/// The rate falls to this share in the last third of the window.
Run fallen(Run run, const Wanted& wanted, double share) {
    bool any = false;
    for (auto& c : run.cases) {
        if (!wanted(c)) continue;
        any = true;
        for (auto& replica : c.replicas) {
            const double early = replica.seconds.value_or(1);
            replica.values.assign(90, early);
            std::fill(replica.values.begin() + 60, replica.values.end(), early / share);
            replica.seconds = early * (2 + (1 / share)) / 3;
            replica.low = replica.high = replica.seconds;
            replica.extra.clear();
            run::add_course(replica);
        }
        conclude(c);
    }
    EXPECT_TRUE(any) << "no case is edited";
    return run;
}

TEST(Heat, PassesGoodNodesByOneReplica) {
    for (const auto& run : {h100(), eight(), host("x86-16-bare")}) {
        const auto node = judged(run);
        EXPECT_EQ(node.verdict, "PASS") << open_checks(node);
        const Folder folder;
        write_small(folder.path(), "one", run);
        std::size_t hot = 0;
        for (const auto& row : rows_of(folder.path())) {
            if (!row.check.starts_with("heat-")) continue;
            ++hot;
            EXPECT_EQ(row.verdict, "PASS") << row.check << " " << row.place << " " << row.cause;
        }
        const std::size_t of_host = run.machine.virtualization == "none" ? 1 : 0;
        EXPECT_EQ(hot, (2 * run.machine.devices.size()) + of_host);
    }
}

TEST(Heat, FailsWhereRateFallsTo94Percent) {
    const auto device = judged(fallen(h100(), under_stress("cuda"), 0.94));
    EXPECT_EQ(device.verdict, "FAIL") << open_checks(device);
    EXPECT_TRUE(has(device, "heat-devices", "slows_when_hot")) << open_checks(device);
    const auto host_node = judged(fallen(host("x86-16-bare"), under_stress("host"), 0.94));
    EXPECT_EQ(host_node.verdict, "FAIL") << open_checks(host_node);
    EXPECT_TRUE(has(host_node, "heat-host", "slows_when_hot")) << open_checks(host_node);
}

TEST(Heat, PassesWhereRateFallsByOnePercent) {
    EXPECT_EQ(judged(fallen(h100(), under_stress("cuda"), 0.99)).verdict, "PASS");
}

TEST(Heat, FailsTheOneDeviceOfEightThatIsHot) {
    const auto node = judged(fallen(eight(), under_stress("cuda", 5), 0.9));
    EXPECT_EQ(node.verdict, "FAIL") << open_checks(node);
    for (const auto& one : node.checks)
        if (one.verdict == "FAIL") EXPECT_EQ(one.place, "cuda:5") << one.id;
}

TEST(Heat, FailsDeviceThatThrottles) {
    for (auto run : {h100(), eight()}) {
        mark(run, under_stress("cuda", 0), DisturbanceCode::device_slowed);
        const auto node = judged(run);
        EXPECT_EQ(node.verdict, "FAIL") << open_checks(node);
        EXPECT_TRUE(has(node, "telemetry:throttled", "overheated")) << open_checks(node);
    }
}

TEST(Heat, PassesDeviceAtItsPowerLimitOrHeldToItsGroup) {
    auto capped = h100();
    auto boosted = h100();
    for (auto* run : {&capped, &boosted})
        for (auto& c : run->cases) {
            if (!under_stress("cuda")(c)) continue;
            auto& telemetry = c.replicas.front().telemetry;
            const bool is_cap = run == &capped;
            const std::string reason = is_cap ? "power_cap" : "sync_boost";
            telemetry.device->throttles = {{.reason = reason, .seconds = 39.0, .share = 1.0}};
            if (!is_cap)
                record::disturb(telemetry, DisturbanceCode::device_slowed, {{"reason", reason}},
                                "sync boost");
            conclude(c);
        }
    for (const auto& run : {capped, boosted}) {
        const auto node = judged(run);
        EXPECT_EQ(node.verdict, "PASS") << open_checks(node);
    }
}

TEST(Heat, StaysOpenWhereAnotherProcessUsedTheDevice) {
    auto run = fallen(h100(), under_stress("cuda"), 0.9);
    mark(run, under_stress("cuda"), DisturbanceCode::device_shared);
    const auto node = judged(run);
    EXPECT_EQ(node.verdict, "INCONCLUSIVE") << open_checks(node);
    EXPECT_TRUE(has(node, "heat-devices", "device_shared")) << open_checks(node);
}

TEST(Heat, IsNoFaultOfGuest) {
    // Its neighbours slow it as heat does.
    const auto node = judged(fallen(host("x86-16-guest"), under_stress("host"), 0.9));
    EXPECT_EQ(node.verdict, "PASS") << open_checks(node);
}

TEST(Heat, DoesNotPassWhereTheRunEndedBefore) {
    auto run = h100();
    for (auto& c : run.cases) {
        if (!under_stress("cuda")(c) && !under_stress("host")(c)) continue;
        c.replicas.clear();
        record::conclude(c, 1);
    }
    run.status = "interrupted";
    run.ended_by = record::RunEnd::signal;
    const auto node = judged(run);
    EXPECT_NE(node.verdict, "PASS") << open_checks(node);
    EXPECT_NE(node.verdict, "FAIL") << open_checks(node);
}

TEST(Heat, StaysFailUntilRepair) {
    const Folder folder;
    write_small(folder.path(), "0", fallen(h100(), under_stress("cuda"), 0.9));
    write_small(folder.path(), "1", later(h100(), 2));
    EXPECT_EQ(verdict_of(check({folder.path()})), "FAIL");
    auto repaired = later(h100(), 4);
    repaired.tags.push_back({"repair", std::string{"fan"}});
    write_small(folder.path(), "2", repaired);
    EXPECT_EQ(verdict_of(check({folder.path()})), "PASS");
}

} // namespace
} // namespace assay::decisions
