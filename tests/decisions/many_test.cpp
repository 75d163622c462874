// SPDX-License-Identifier: Apache-2.0
//
// Rows about many devices, many nodes, and two sides: what is wrong with some of them, and what stops early.

#include "cli/program.hpp"
#include "good_nodes.hpp"
#include "record/summary.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using record::DisturbanceCode;
using record::Run;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;

const record::Run& h100(int count = 1) {
    static const auto one = good_chip("nvidia-h100-sxm5-80gb").run;
    static const auto eight = good_chip("nvidia-h100-sxm5-80gb", 8).run;
    return count == 1 ? one : eight;
}
Node judged(const Run& run, const Words& more = {}) {
    const Folder folder;
    write_small(folder.path(), "one", run);
    const auto nodes = nodes_of(check({folder.path()}, more));
    return nodes.size() == 1 ? nodes.front() : Node{};
}
Wanted device(int index, const std::string& words) {
    return [=, here = on_devices(words)](const record::Case& c) {
        return here(c) && c.place.index == index && !c.place.uuid.empty();
    };
}
/// Codes of ended cases whose replicas are fewer than was asked for.
void end_by_time(Run& run, std::size_t cases) {
    for (std::size_t i = cases; i < run.cases.size(); ++i) {
        auto& c = run.cases[i];
        c.replicas.clear();
        c.metrics.clear();
        c.status = record::Status::skipped;
        c.reason = "no time is left";
        c.reason_code = record::ReasonCode::no_time;
    }
}

// --- runs that end early -------------------------------------------------------------------------------

TEST(EarlyEnd, DecidesByTwoReplicasAndNeverByNone) {
    for (const std::size_t replicas : {0U, 1U, 2U, 3U, 4U}) {
        auto run = h100();
        interrupt(run, replicas);
        const auto node = judged(run);
        EXPECT_EQ(node.verdict, replicas < 2 ? "INCONCLUSIVE" : "PASS") << replicas << " replicas\n"
                                                                        << open_checks(node);
        auto bad = h100();
        slow_down(bad, on_devices("memory.stream kernel=triad"), 1.6);
        interrupt(bad, replicas);
        EXPECT_THAT(judged(bad).verdict, AnyOf("INCONCLUSIVE", "FAIL")) << replicas << " replicas";
    }
}

TEST(EarlyEnd, LeavesOpenWhatTimeCutOff) {
    const auto count = h100().cases.size() * 3 / 4; // no limit needs the last ones
    for (std::size_t cases = 0; cases < count; cases += 5) {
        auto run = h100();
        end_by_time(run, cases);
        EXPECT_EQ(judged(run).verdict, "INCONCLUSIVE") << cases << " of " << count << " cases";
    }
}

TEST(EarlyEnd, KeepsFailOfMeasuredCases) {
    auto run = h100();
    slow_down(run, [](const auto& c) { return c.benchmark == "memory.stream"; }, 1.6);
    std::ranges::stable_partition(run.cases,
                                  [](const auto& c) { return c.benchmark == "memory.stream"; });
    end_by_time(run, run.cases.size() / 2);
    EXPECT_EQ(judged(run).verdict, "FAIL");
}

/// The run ends after this stage of the suite: the first replica is validation, and cases under stress come last.
Run ended_after(Run run, record::StageName last) {
    using record::StageName;
    record::Gates gates;
    for (const auto name :
         {StageName::sanity, StageName::validation, StageName::performance, StageName::stress})
        gates.stages.push_back(
            {.name = name,
             .end = name <= last ? record::StageEnd::done : record::StageEnd::not_begun,
             .seconds = name <= last ? 20.0 : 0.0});
    run.schedule = record::Schedule{.gates = gates};
    if (last == StageName::stress) return run;
    interrupt(run, last == StageName::sanity ? 0 : last == StageName::validation ? 1 : 5);
    for (auto& c : run.cases)
        if (record::find(c.parameters, "stress") != nullptr) {
            c.replicas.clear();
            record::conclude(c, 1);
        }
    return run;
}

TEST(EarlyEnd, IsDecidedByStagesThatWereDone) {
    using record::StageName;
    auto bad = h100();
    slow_down(bad, on_devices("memory.stream kernel=triad"), 1.6);
    for (const auto& [last, good_node, bad_node] :
         {std::tuple{StageName::sanity, "INCONCLUSIVE", "INCONCLUSIVE"},
          std::tuple{StageName::validation, "INCONCLUSIVE", "INCONCLUSIVE"},
          std::tuple{StageName::performance, "INCONCLUSIVE", "FAIL"},
          std::tuple{StageName::stress, "PASS", "FAIL"}}) {
        const auto good = judged(ended_after(h100(), last));
        EXPECT_EQ(good.verdict, good_node) << to_string(last) << "\n" << open_checks(good);
        const auto slow = judged(ended_after(bad, last));
        EXPECT_EQ(slow.verdict, bad_node) << to_string(last) << "\n" << open_checks(slow);
    }
}

// --- two levels ----------------------------------------------------------------------------------------

TEST(TwoLevels, PassFarAboveTheLimitAndNotAtIt) {
    const auto fast = on_devices("memory.stream kernel=triad");
    const auto two_levels = [&](double share_of_limit) {
        auto run = h100();
        // The fast level, then every other replica 10% slower.
        slow_down(run, fast, 1 / share_of_limit);
        slow_down(run, fast, 1.1, half_of_replicas());
        return judged(run);
    };
    const Folder folder;
    write_small(folder.path(), "good", h100());
    double above = 0; // times the limit
    for (const auto& row : rows_of(folder.path()))
        if (row.check == "device-triad") above = row.value / row.bound;
    ASSERT_GT(above, 1.05);
    // 30% above: both levels clear the limit.
    const auto far = two_levels(1.3 / above);
    EXPECT_EQ(far.verdict, "PASS") << open_checks(far);
    // The fast level is 4% above, the slow one 6% below.
    const auto near = two_levels(1.04 / above);
    EXPECT_NE(near.verdict, "PASS") << open_checks(near);
}

// --- eight devices -------------------------------------------------------------------------------------

TEST(EightDevices, NameOneThatIsTenPercentSlower) {
    auto run = h100(8);
    slow_down(run, device(3, "memory.stream"), 1.11);
    slow_down(run, device(3, "gemm.square"), 1.11);
    const auto node = judged(run);
    EXPECT_EQ(node.verdict, "FAIL") << open_checks(node);
    for (const auto& one : node.checks)
        if (one.verdict == "FAIL") EXPECT_EQ(one.place, "cuda:3") << one.id;
}

TEST(EightDevices, FailWhereOneIsMissing) {
    auto run = h100(8);
    drop_device(run, 5);
    run.schedule = record::Schedule{.gates = record::Gates{.expected = {"gpu=8"}}};
    const auto node = judged(run);
    EXPECT_EQ(node.verdict, "FAIL") << open_checks(node);
    EXPECT_TRUE(has(node, "expect:gpu=8", "part_missing")) << open_checks(node);
    for (const auto& one : node.checks)
        if (one.verdict == "FAIL") EXPECT_EQ(one.id, "expect:gpu=8") << one.cause;
}

TEST(EightDevices, StayOpenWhereOneIsThereAndWasNotMeasured) {
    auto run = h100(8);
    std::erase_if(run.cases, device(5, "memory.stream"));
    const auto node = judged(run);
    EXPECT_EQ(node.verdict, "INCONCLUSIVE") << open_checks(node);
    for (const auto& one : node.checks)
        if (one.verdict == "INCONCLUSIVE") EXPECT_EQ(one.cause, "not_measured") << one.id;
}

TEST(EightDevices, FailWhereAllThrottleTogether) {
    auto run = h100(8);
    const Wanted all = [](const auto& c) {
        return c.place.kind == "cuda" && measured_replicas(c) > 0;
    };
    mark(run, all, DisturbanceCode::device_slowed);
    slow_down(run, on_devices("gemm.square"), 1.3);
    const auto node = judged(run);
    std::set<std::string> places;
    for (const auto& one : node.checks)
        if (one.verdict == "FAIL") places.insert(one.place);
    EXPECT_THAT(places, Contains("cuda"));
    for (int i = 1; i < 8; ++i) EXPECT_THAT(places, Contains(fmt::format("cuda:{}", i)));
    EXPECT_EQ(node.verdict, "FAIL");
}

// --- a fleet -------------------------------------------------------------------------------------------

TEST(FleetOfForty, NamesTheTwoBadNodes) {
    const std::set<std::string> bad{"n07", "n31"};
    const Folder folder;
    for (int i = 0; i < 40; ++i) {
        const auto name = fmt::format("n{:02}", i);
        auto run = h100();
        std::erase_if(run.cases, [](const auto& c) {
            return c.place.kind != "host" && c.benchmark != "memory.stream" &&
                   c.benchmark != "gemm.square";
        });
        rename_machine(run, name);
        run.campaign = "sweep";
        run.tags = {{"node", name}};
        // Nodes differ by half a percent.
        slow_down(run, on_devices("memory.stream"), 1 + 0.0025 * ((i * 7) % 5 - 2));
        if (bad.contains(name)) slow_down(run, on_devices("memory.stream"), 1.25);
        // A suspect is accused by its retests: three runs after the first.
        for (int hour = 0; hour < 4; ++hour)
            write_small(folder.path(), fmt::format("{}-{}", name, hour), later(run, hour));
    }
    std::set<std::string> failed;
    for (const auto& node : nodes_of(check({folder.path()})))
        if (node.verdict == "FAIL")
            failed.insert(
                std::filesystem::path{node.runs.front()}.parent_path().filename().string().substr(
                    0, 3));
    EXPECT_EQ(failed, bad);
    const auto fleet = ask({"fleet", "--json", folder.path().string()});
    ASSERT_TRUE(fleet.json.is_object()) << fleet.error;
    std::set<std::string> slow;
    for (const auto& node : fleet.json.at("nodes"))
        if (node.at("state") == "slow") slow.insert(node.at("node"));
    EXPECT_EQ(slow, bad) << fleet.json.at("counts").dump();
}

// --- two sides -----------------------------------------------------------------------------------------

/// "better", "worse" ... of B against A, by identity of the row.
std::map<std::string, std::string> outcomes(const Run& a, const Run& b) {
    const Folder folder;
    const auto first = write_small(folder.path(), "a", a);
    const auto second = write_small(folder.path(), "b", later(b, 5));
    const auto answer = ask({"compare", "--json", "A=" + first.string(), "B=" + second.string()});
    std::map<std::string, std::string> found;
    if (!answer.json.is_object()) return found;
    for (const auto& table : answer.json.at("tables"))
        for (const auto& row : table.at("rows")) {
            const auto& contrast = row.at("cells").at(1).at("contrast");
            if (contrast.is_object())
                found[row.at("identity")] = contrast.at("outcome").is_string()
                                                ? contrast.at("outcome").get<std::string>()
                                                : "";
        }
    return found;
}

TEST(TwoSides, BurstsOnOneSideAreNoDifference) {
    auto b = h100();
    const auto triad = on_host("memory.stream kernel=triad threads=all");
    slow_down(b, triad, 1.5, half_of_replicas());
    mark(b, triad, DisturbanceCode::foreign_cpu, half_of_replicas());
    const auto found = outcomes(h100(), b);
    ASSERT_FALSE(found.empty());
    for (const auto& [row, outcome] : found) {
        EXPECT_NE(outcome, "worse") << row;
        EXPECT_NE(outcome, "better") << row;
    }
}

TEST(TwoSides, DifferWhereTheyWereMadeToDiffer) {
    auto b = h100();
    slow_down(b, on_devices("memory.stream kernel=triad"), 1.1);
    slow_down(b, on_devices("fft.transform"), 1 / 1.1);
    std::set<std::string> better;
    std::set<std::string> worse;
    for (const auto& [row, outcome] : outcomes(h100(), b)) {
        if (outcome == "better") better.insert(row.substr(0, row.find('[')));
        if (outcome == "worse") worse.insert(row.substr(0, row.find('[')));
    }
    EXPECT_THAT(better, Each("fft.transform"));
    EXPECT_FALSE(better.empty());
    EXPECT_THAT(worse, Each("memory.stream"));
    EXPECT_FALSE(worse.empty());
}

} // namespace
} // namespace assay::decisions
