// SPDX-License-Identifier: Apache-2.0
//
// Every chip of configs/hardware and hosts of many kinds: a good node passes the shipped limits, and fails by the right
// one where a single thing is 20% below it. One `check` judges all nodes of a test.

#include "cli/program.hpp"
#include "good_nodes.hpp"
#include "reference/processor.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using record::Case;
using record::Run;

std::vector<GoodNode> hosts() {
    std::vector<GoodNode> nodes;
    for (const auto& kind : host_kinds()) nodes.push_back(good_host(kind));
    return nodes;
}
std::vector<GoodNode> processors() {
    std::vector<GoodNode> nodes;
    for (const auto& kind : every_processor()) nodes.push_back(good_host(kind));
    return nodes;
}
/// Without optimisation writing files takes ten times as long: every fourth chip then, in the tests that write most.
std::vector<const reference::HardwareEntry*> chips(bool writes_most) {
#ifdef __OPTIMIZE__
    const bool is_slow = false;
#else
    const bool is_slow = std::getenv("ASSAY_EVERY_CHIP") == nullptr;
#endif
    const bool all = !(is_slow && writes_most);
    std::vector<const reference::HardwareEntry*> chosen;
    std::size_t number = 0;
    for (const auto& chip : hardware().entries)
        if (is_known(chip) && (number++ % 4 == 0 || all)) chosen.push_back(&chip);
    return chosen;
}
std::vector<GoodNode> single_devices(bool writes_most = false) {
    std::vector<GoodNode> nodes;
    for (const auto* chip : chips(writes_most))
        nodes.push_back(good_devices(*chip, 1, host_of_one()));
    return nodes;
}
/// With two replicas of each case, which are enough for PASS: files of eight devices are large.
std::vector<GoodNode> eight_devices() {
    std::vector<GoodNode> nodes;
    for (const auto* chip : chips(true))
        nodes.push_back(good_devices(*chip, 8, host_of_eight(), 2));
    return nodes;
}

/// On two threads: half of what a test takes.
void write_all(const std::vector<GoodNode>& nodes, const std::filesystem::path& folder) {
    const auto part = [&](std::size_t from) {
        for (auto i = from; i < nodes.size(); i += 2)
            write_small(folder, nodes[i].name, nodes[i].run);
    };
    auto other = std::async(std::launch::async, part, 1);
    part(0);
    other.get();
}

/// Each passes, and nothing of it is open.
void expect_pass(const std::vector<GoodNode>& nodes) {
    const Folder folder;
    write_all(nodes, folder.path());
    const auto answer = check({folder.path()});
    const auto found = nodes_of(answer);
    EXPECT_EQ(found.size(), nodes.size()) << answer.error;
    for (const auto& node : nodes) {
        const auto judged = node_of(found, node.name);
        EXPECT_EQ(judged.verdict, "PASS") << node.name << "\n" << open_checks(judged);
    }
}

TEST(GoodNodes, PassAsHosts) { expect_pass(hosts()); }
TEST(GoodNodes, PassWithEveryProcessor) {
    // Where the sheet has no memory, no limit can be a share of it: that is open, and nothing else is.
    std::vector<GoodNode> complete;
    std::vector<GoodNode> without_memory;
    for (auto& node : processors()) {
        const auto* const sheet =
            reference::find_processor(hardware().processors, node.run.machine);
        const bool is_complete =
            sheet != nullptr && sheet->memory_channels && sheet->memory_transfer_rate;
        (is_complete ? complete : without_memory).push_back(std::move(node));
    }
    expect_pass(complete);
    const Folder folder;
    write_all(without_memory, folder.path());
    const auto found = nodes_of(check({folder.path()}));
    for (const auto& node : without_memory) {
        const auto judged = node_of(found, node.name);
        EXPECT_EQ(judged.verdict, "INCONCLUSIVE") << node.name;
        for (const auto& one : judged.checks)
            if (one.verdict != "PASS" && one.verdict != "SKIP")
                EXPECT_TRUE(one.cause == "no_datasheet" &&
                            (one.id == "host-memory" || one.id == "host-stencil"))
                    << node.name << " " << one.id << " " << one.cause;
    }
}
TEST(GoodNodes, PassWithOneDevice) { expect_pass(single_devices()); }
TEST(GoodNodes, PassWithEightDevices) { expect_pass(eight_devices()); }
TEST(GoodNodes, PassWithDevicesMeasuredInTurn) {
    std::vector<GoodNode> nodes;
    for (const auto* chip : chips(false))
        if (chip->id == "nvidia-h100-sxm5-80gb" || chip->id == "nvidia-l40s" ||
            chip->id == "amd-mi300x")
            for (const int count : {1, 8})
                nodes.push_back(good_devices(*chip, count, host_of_eight(), 2, true));
    EXPECT_EQ(nodes.size(), 6U);
    expect_pass(nodes);
}
TEST(GoodNodes, PassSuiteQuick) {
    std::vector<GoodNode> nodes;
    for (const auto& kind : host_kinds())
        if (kind.name == "x86-2-guest" || kind.name == "x86-16-bare")
            nodes.push_back(good_quick(kind));
    ASSERT_EQ(nodes.size(), 2U);
    expect_pass(nodes);
}

// --- one thing too slow -----------------------------------------------------------------------------------------

bool is_of(const Case& c, const Row& row) {
    if (c.benchmark != row.benchmark || c.library != row.library ||
        record::words_of(c.place) != row.place)
        return false;
    std::string words;
    for (const auto& parameter : c.parameters)
        words +=
            (words.empty() ? "" : " ") + parameter.name + "=" + record::to_string(parameter.value);
    return words == row.parameters;
}

const GoodNode* node_named(const std::vector<GoodNode>& nodes, const std::string& name) {
    const auto found = std::ranges::find(nodes, name, &GoodNode::name);
    return found == nodes.end() ? nullptr : &*found;
}

/// Subject of the limit alone: the case, the same on other devices, and those whose bounds its limit is a share of.
Run only_for(const Row& row, Run run) {
    const auto slow = std::ranges::find_if(run.cases, [&](const Case& c) { return is_of(c, row); });
    const auto parameters = slow->parameters;
    const bool is_alone = row.benchmark.starts_with("gemm.") || row.benchmark.starts_with("peak.");
    std::erase_if(run.cases, [&](const Case& c) {
        const bool is_same =
            c.benchmark == row.benchmark && c.library == row.library && c.parameters == parameters;
        const bool is_bound = (c.benchmark == "peak.fma" || c.benchmark == "memory.stream") &&
                              record::words_of(c.place) == row.place;
        return !is_same && (is_alone || !is_bound);
    });
    return run;
}

struct Bad {
    std::string name;
    Row row;
};

/// A limit and a node whose value is 20% on its bad side, for each limit of each node.
std::vector<Bad> write_bad(const std::vector<GoodNode>& nodes, const Folder& folder,
                           const std::vector<Row>& rows, bool once_for_all) {
    std::vector<Bad> all;
    std::set<std::pair<std::string, std::string>> seen;
    for (const auto& row : rows) {
        const auto* const node = node_named(nodes, row.campaign);
        if (node == nullptr || !(row.bound > 0) || !(row.value > 0)) continue;
        if (std::ranges::none_of(node->run.cases, [&](const Case& c) { return is_of(c, row); })) {
            ADD_FAILURE() << row.check << " " << row.benchmark << " " << row.parameters;
            continue;
        }
        if (!seen.emplace(once_for_all ? "" : row.campaign, row.check).second) continue;
        const double wanted = row.at_least ? 0.8 * row.bound : row.bound / 0.8;
        const double slower = row.at_least ? row.value / wanted : wanted / row.value;
        auto run = only_for(row, node->run);
        slow_down(run, [&](const Case& c) { return is_of(c, row); }, slower);
        auto name = fmt::format("{}-{}", row.campaign, row.check);
        run.campaign = name;
        rename_machine(run, name);
        // Neighbours may slow a guest's host once, not three times.
        const bool is_shared = node->run.machine.virtualization != "none" && row.place == "host";
        for (int i = 0; i < (is_shared ? 3 : 1); ++i)
            write_small(folder.path(), fmt::format("bad/{}/{}", name, i), later(run, 1.1 * i));
        all.push_back({std::move(name), row});
    }
    return all;
}

struct Distance {
    std::optional<double> measured; ///< the nearest value over its limit
    std::optional<double> recalled;
    std::string from;
};

/// How far good values are from the limits; one that no measured value clears is wrong.
void expect_room(const std::vector<GoodNode>& nodes, const std::vector<Row>& rows) {
    std::map<std::string, Distance> distances;
    for (const auto& row : rows) {
        const auto* const node = node_named(nodes, row.campaign);
        if (node == nullptr || row.check.find(':') != std::string::npos) continue;
        auto& distance = distances[row.check];
        const auto& cases = node->run.cases;
        const auto at = std::ranges::find_if(cases, [&](const Case& c) { return is_of(c, row); });
        if (at == cases.end() || !(row.bound > 0) || !(row.value > 0)) continue;
        const auto& basis = node->bases.at(static_cast<std::size_t>(at - cases.begin()));
        const double room = row.at_least ? row.value / row.bound : row.bound / row.value;
        auto& nearest = basis.is_measured ? distance.measured : distance.recalled;
        if (nearest && *nearest <= room) continue;
        nearest = room;
        if (basis.is_measured) distance.from = node->name + ": " + basis.source;
    }
    const auto text = [](const std::optional<double>& ratio) {
        return ratio ? fmt::format("{:.2f}", *ratio) : std::string{"-"};
    };
    std::cout << "the nearest good value over its limit: measured, recalled\n";
    for (const auto& [limit, distance] : distances) {
        std::cout << fmt::format("  {:24} {:>5} {:>5}  {}\n", limit, text(distance.measured),
                                 text(distance.recalled),
                                 distance.measured ? distance.from : "never measured");
        if (distance.measured)
            EXPECT_GT(*distance.measured, 1.02) << limit << " by " << distance.from;
    }
}

void expect_fail(const std::vector<GoodNode>& nodes, bool once_for_all = false) {
    const Folder folder;
    write_all(nodes, folder.path() / "good");
    const auto rows = rows_of(folder.path() / "good");
    expect_room(nodes, rows);
    const auto bad = write_bad(nodes, folder, rows, once_for_all);
    EXPECT_GE(bad.size(), nodes.size()); // every one has limits
    const auto answer = check({folder.path() / "bad"});
    const auto found = nodes_of(answer);
    ASSERT_EQ(found.size(), bad.size()) << answer.error;
    std::cout << fmt::format("{} nodes with one thing 20% on the bad side of a limit\n",
                             bad.size());
    for (const auto& one : bad) {
        const auto judged = node_of(found, one.name);
        EXPECT_EQ(judged.verdict, "FAIL") << one.name << "\n" << open_checks(judged);
        EXPECT_TRUE(has(judged, one.row.check, one.row.at_least ? "below_limit" : "above_limit") ||
                    has(judged, one.row.check, "slower_than_siblings") ||
                    has(judged, one.row.check, "slows_when_hot"))
            << one.name << "\n"
            << open_checks(judged);
    }
}

/// Those of limits that only several devices have.
std::vector<GoodNode> some_of_eight() {
    std::vector<GoodNode> nodes;
    for (const auto& chip : hardware().entries)
        if (chip.id == "nvidia-h100-sxm5-80gb" || chip.id == "nvidia-l40s" ||
            chip.id == "amd-mi300x")
            nodes.push_back(good_devices(chip, 8, host_of_eight()));
    return nodes;
}

TEST(BadNodes, FailAsHosts) { expect_fail(hosts()); }
TEST(BadNodes, FailWithOneDevice) { expect_fail(single_devices(true)); }
TEST(BadNodes, FailWithEightDevices) {
    const auto nodes = some_of_eight();
    EXPECT_EQ(nodes.size(), 3U);
    expect_fail(nodes, true);
}

TEST(BadNodes, AreOpenWithGuestSlowOnce) {
    // One slow run of a guest may be its neighbours': not FAIL.
    const Folder folder;
    for (const auto& kind : host_kinds())
        if (kind.name == "x86-16-guest") {
            auto node = good_host(kind);
            slow_down(node.run, on_host("peak.fma threads=all"), 4);
            write_small(folder.path(), node.name, node.run);
        }
    const auto answer = check({folder.path()});
    EXPECT_NE(verdict_of(answer), "FAIL");
    EXPECT_NE(verdict_of(answer), "PASS");
    EXPECT_NE(verdict_of(answer), "") << answer.error;
}

} // namespace
} // namespace assay::decisions
