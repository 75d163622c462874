// SPDX-License-Identifier: Apache-2.0
//
// Rows about real machines: an H200 and two H100, all healthy, measured on 2026-11-27, and edited copies of them.

#include "cli/program.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using record::DisturbanceCode;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Words devices_alone{"--part", "devices"};

struct Expected {
    const char* name;
    std::function<void(record::Run&)> edit;
    const char* verdict; ///< "!FAIL": anything else
    const char* check = "";
    const char* cause = "";
};
std::ostream& operator<<(std::ostream& out, const Expected& row) { return out << row.name; }

void nothing(record::Run& /*run*/) {}
std::function<void(record::Run&)> slower(const char* words, double factor,
                                         const Chosen& chosen = every_replica()) {
    return [=](record::Run& run) { slow_down(run, on_devices(words), factor, chosen); };
}
std::function<void(record::Run&)> marked(const char* words, DisturbanceCode code) {
    return [=](record::Run& run) { mark(run, on_devices(words), code); };
}
void every_device_case(record::Run& run, DisturbanceCode code) {
    mark(
        run, [](const record::Case& c) { return c.place.kind != "host" && !c.replicas.empty(); },
        code);
}

constexpr const char* bf16 = "gemm.square precision=bf16 load=sustained";

/// The H200 judged by its devices: its host was not measured.
const std::vector<Expected> rows{
    {"Healthy", nothing, "PASS"},
    {"Copy20PercentSlower", slower("memory.stream kernel=copy", 1.25), "FAIL", "device-copy",
     "below_limit"},
    {"Triad20PercentSlower", slower("memory.stream kernel=triad", 1.25), "FAIL", "device-triad",
     "below_limit"},
    {"Products20PercentSlower", slower(bf16, 1.25), "FAIL", "device-gemm-bf16", "below_limit"},
    {"Fp8Products20PercentSlower", slower("gemm.square precision=fp8_e4m3", 1.25), "FAIL",
     "device-gemm-fp8", "below_limit"},
    {"MultiplyAdds30PercentSlower", slower("peak.fma precision=fp64", 1.43), "FAIL",
     "device-arithmetic", "below_limit"},
    {"Copies38PercentSlower", slower("transfer.host direction=to_device", 1.6), "FAIL",
     "device-host-link", "below_limit"}, // runs of good links differ by 5%
    {"LatencyFiveTimes", slower("memory.latency", 5), "FAIL", "device-latency", "above_limit"},
    {"Memory3PercentSlower", slower("memory.stream", 1.03), "!FAIL"},
    {"Products3PercentSlower", slower("gemm.square", 1.03), "!FAIL"},
    {"HalfOfReplicasSlow", slower("memory.stream kernel=triad", 1.25, half_of_replicas()), "!PASS",
     "device-triad"},
    {"HalfOfReplicasSlowInProducts", slower(bf16, 1.25, half_of_replicas()), "!PASS",
     "device-gemm-bf16"},
    {"AllReplicasTooHot",
     [](record::Run& run) { every_device_case(run, DisturbanceCode::device_slowed); }, "FAIL", "",
     "overheated"},
    {"ProductsTooHot", marked(bf16, DisturbanceCode::device_slowed), "FAIL", "", "overheated"},
    {"BrokenMemory", marked("memory.stream", DisturbanceCode::memory_uncorrected), "FAIL", "",
     "memory_uncorrected"},
    {"NarrowLink", marked("transfer.host", DisturbanceCode::link_narrow), "FAIL", "",
     "link_narrow"},
    {"MemoryRowBroken", marked("memory.stream", DisturbanceCode::row_broken), "FAIL", "",
     "row_broken"},
    {"MemoryRowPending", marked("memory.stream", DisturbanceCode::row_pending), "FAIL", "",
     "row_pending"},
    {"MemoryRowsReplacedLongAgo",
     [](record::Run& run) {
         for (auto& c : run.cases)
             if (c.telemetry.device) c.telemetry.device->remapped_rows_uncorrected = 4;
     },
     "PASS"},
    {"FabricDegraded",
     [](record::Run& run) {
         run.machine.devices.front().fabric = {
             .state = "completed", .status = 0, .clique = 0, .health = {"degraded_bandwidth"}};
     },
     "FAIL", "", "fabric_degraded"},
    {"FabricWhole",
     [](record::Run& run) {
         run.machine.devices.front().fabric = {.state = "completed", .status = 0, .clique = 0};
     },
     "PASS"},
    {"MemoryCorrected", marked("memory.stream", DisturbanceCode::memory_corrected), "WARN", "",
     "memory_corrected"},
    {"PowerLimitLowered", marked(bf16, DisturbanceCode::device_capped), "INCONCLUSIVE", "",
     "device_capped"},
    {"EccOff", [](record::Run& run) { run.machine.devices.front().ecc = false; }, "INCONCLUSIVE",
     "", "ecc_off"},
    {"DeviceDivided", [](record::Run& run) { run.machine.devices.front().mode = "mig 1g.10gb"; },
     "INCONCLUSIVE", "", "device_divided"},
    {"CounterRose",
     [](record::Run& run) {
         run.error_counters = {
             {.source = "pcie", .device = "a", .counter = "BadTLP", .before = 0, .after = 7}};
     },
     "WARN", "", "counter_rose"},
    {"AllowanceExceeded",
     [](record::Run& run) {
         run.error_counters = {{.source = "allowance",
                                .device = "eth0",
                                .counter = "bw_out_allowance_exceeded",
                                .before = 3,
                                .after = 9}};
     },
     "WARN", "", "allowance_exceeded"},
    {"AllowanceExceededBefore",
     [](record::Run& run) {
         run.error_counters = {{.source = "allowance",
                                .device = "eth0",
                                .counter = "bw_out_allowance_exceeded",
                                .before = 9,
                                .after = 9}};
     },
     "PASS"},
    {"BurstableType", [](record::Run& run) { run.machine.platform.burstable = true; }, "WARN", "",
     "burstable"},
    {"ExecutedOnCpu",
     [](record::Run& run) {
         for (auto& c : run.cases) c.settings.push_back({"executed_on", std::string{"cpu"}});
     },
     "INCONCLUSIVE", "", "executed_on_cpu"},
    {"Crashed",
     [](record::Run& run) {
         for (auto& c : run.cases)
             if (on_devices(bf16)(c) && !c.replicas.empty()) {
                 c.replicas.front().status = record::Status::crashed;
                 c.replicas.front().reason = "made up";
                 conclude(c);
             }
     },
     "ERROR", "device-gemm-bf16", "case_crashed"},
    {"BusyHost", // cannot slow what a device times
     [](record::Run& run) {
         for (const auto* words : {"memory.stream", "gemm.square precision=bf16", "peak.fma"})
             for (const auto code : {DisturbanceCode::foreign_cpu, DisturbanceCode::steal,
                                     DisturbanceCode::waiting, DisturbanceCode::clock_low})
                 mark(run, on_devices(words), code);
     },
     "PASS"},
    {"DeviceMissing",
     [](record::Run& run) { // it was run with --expect gpu=1
         run.machine.devices.clear();
         std::erase_if(run.machine.pci, [](const auto& one) { return one.kind == "accelerator"; });
         interrupt(run, 0);
     },
     "FAIL", "expect:gpu=1", "part_missing"},
    {"DriverSilent", // the card is there, and nothing was measured
     [](record::Run& run) {
         run.machine.devices.clear();
         interrupt(run, 0);
     },
     "!PASS"},
    {"TwoReplicas", [](record::Run& run) { interrupt(run, 2); }, "PASS"},
    {"OneReplica", [](record::Run& run) { interrupt(run, 1); }, "!PASS"},
    {"NothingMeasured", [](record::Run& run) { run.cases.clear(); }, "!PASS"},
    {"NoReplica", [](record::Run& run) { interrupt(run, 0); }, "!PASS"},
    {"WrongResult",
     [](record::Run& run) {
         for (auto& c : run.cases) {
             if (!on_devices(bf16)(c) || c.replicas.empty()) continue;
             c.replicas.front().status = record::Status::incorrect;
             conclude(c);
         }
     },
     "FAIL", "device-gemm-bf16", "wrong_result"},
};

class H200 : public ::testing::TestWithParam<Expected> {};

TEST_P(H200, HasVerdict) {
    const auto& row = GetParam();
    const Folder folder;
    auto run = read(real("h200-acceptance"));
    row.edit(run);
    const auto answer = check({write(folder.path(), "h200", run)}, devices_alone);
    const auto nodes = nodes_of(answer);
    const std::string expected = row.verdict;
    if (run.cases.empty()) { // no node to speak of
        EXPECT_EQ(verdict_of(answer), "INCONCLUSIVE") << answer.error;
        return;
    }
    ASSERT_EQ(nodes.size(), 1U) << answer.error << answer.text;
    const auto& found = nodes.front();
    if (expected.front() == '!')
        EXPECT_NE(found.verdict, expected.substr(1)) << open_checks(found);
    else
        EXPECT_EQ(found.verdict, expected) << open_checks(found);
    const std::string limit = row.check;
    const std::string cause = row.cause;
    if (limit.empty() && cause.empty()) return;
    EXPECT_TRUE(std::ranges::any_of(found.checks,
                                    [&](const Check& one) {
                                        return (limit.empty() || one.id == limit) &&
                                               (cause.empty() || one.cause == cause) &&
                                               one.verdict != "PASS";
                                    }))
        << limit << " " << cause << " is missing among\n"
        << open_checks(found);
}

INSTANTIATE_TEST_SUITE_P(Rows, H200, ::testing::ValuesIn(rows),
                         [](const auto& info) { return std::string{info.param.name}; });

TEST(RealFiles, AreAsMeasured) {
    std::vector<std::string> words{"verify"};
    for (const auto* name :
         {"h200-acceptance", "h100-acceptance-interrupted", "h100-shared-device"})
        words.push_back(real(name).string());
    const auto outcome = cli_test::run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.error;
}

TEST(RealFiles, SayThatH200WasNotTestedWarm) {
    const auto answer = check({real("h200-acceptance")}, devices_alone);
    EXPECT_EQ(answer.code, 0) << answer.error;
    EXPECT_THAT(answer.text, HasSubstr("\"warm\": false"));
}

TEST(RealFiles, LeaveHostOpenWithoutPartDevices) {
    // The run measured devices alone, which cannot make the node PASS.
    const auto answer = check({real("h200-acceptance")});
    EXPECT_EQ(verdict_of(answer), "INCONCLUSIVE") << answer.error;
}

TEST(RealFiles, NameOtherProcessOfSharedDeviceFirst) {
    for (const Words& more : {Words{}, devices_alone}) {
        const auto answer = check({real("h100-shared-device")}, more);
        const auto verdict = verdict_of(answer);
        EXPECT_THAT(verdict, ::testing::Not(::testing::IsEmpty())) << answer.error;
        EXPECT_NE(verdict, "PASS");
        EXPECT_NE(verdict, "FAIL");
        EXPECT_THAT(first_lines(answer), AnyOf(HasSubstr("nother process"), HasSubstr("python3")));
        const auto nodes = nodes_of(answer);
        ASSERT_EQ(nodes.size(), 1U);
        EXPECT_TRUE(std::ranges::any_of(nodes.front().checks, [](const Check& one) {
            return one.cause == "device_shared";
        })) << open_checks(nodes.front());
    }
}

/// An H200, an H100 with two runs, and the H100 of the day before: three cards, by their UUIDs. All had one machine id.
std::vector<std::filesystem::path> three_machines() {
    return {real("h200-acceptance"), real("h100-acceptance-interrupted"),
            real("h100-shared-device"),
            std::filesystem::path{ASSAY_SAMPLES} / "h100-80gb-quick.json"};
}

TEST(RealFiles, AreThreeMachines) {
    std::map<std::string, std::set<std::string>> runs;
    for (const auto& node : nodes_of(check(three_machines())))
        runs[node.name].insert(node.runs.begin(), node.runs.end());
    EXPECT_EQ(runs.size(), 3U);
    for (const auto& [name, files] : runs) {
        const bool is_first = files.contains(real("h100-acceptance-interrupted").string()) ||
                              files.contains(real("h100-shared-device").string());
        EXPECT_EQ(files.size(), is_first ? 2U : 1U) << name;
    }
    Words words{"fleet", "--json", "--since", "2026-11-01"};
    for (const auto& file : three_machines()) words.push_back(file.string());
    const auto fleet = ask(words);
    ASSERT_TRUE(fleet.json.is_object() && fleet.json.contains("nodes")) << fleet.error;
    EXPECT_EQ(fleet.json.at("nodes").size(), 3U);
}

TEST(RealFiles, AreThreeMachinesInDiff) {
    const auto answer = ask({"diff", "--json", real("h100-acceptance-interrupted").string(),
                             real("h200-acceptance").string()});
    EXPECT_THAT(answer.text, Not(HasSubstr("same machine"))) << answer.error;
}

/// The cases with measured replicas; 44 of the 47.
std::set<std::string> measured_cases() {
    std::set<std::string> names;
    for (const auto& c : read(real("h100-acceptance-interrupted")).cases)
        if (measured_replicas(c) > 0) names.insert(record::identity(c));
    return names;
}

TEST(InterruptedRun, HasValuesOfMeasuredReplicasInReport) {
    EXPECT_EQ(measured_cases().size(), 44U);
    const auto answer = ask({"report", "--json", real("h100-acceptance-interrupted").string()});
    ASSERT_TRUE(answer.json.is_object()) << answer.error;
    std::size_t found = 0;
    for (const auto& section : answer.json.at("reports").at(0).at("sections"))
        for (const auto& c : section.at("cases")) found += c.at("value").is_number() ? 1 : 0;
    EXPECT_EQ(found, 44U);
}

TEST(InterruptedRun, HasValuesOfMeasuredReplicasInComparison) {
    const Folder folder;
    const auto file = real("h100-acceptance-interrupted");
    const auto again = write(folder.path(), "again", later(read(file), 1));
    const auto answer = ask({"compare", "--json", "A=" + file.string(), "B=" + again.string()});
    ASSERT_TRUE(answer.json.is_object()) << answer.error;
    for (const auto& side : answer.json.at("sides")) EXPECT_EQ(side.at("measured"), 44);
}

TEST(InterruptedRun, IsComparedWithH200) {
    const auto answer = ask({"compare", "--json", real("h100-acceptance-interrupted").string(),
                             real("h200-acceptance").string()});
    ASSERT_TRUE(answer.json.is_object()) << answer.error;
    EXPECT_EQ(answer.json.at("sides").at(0).at("measured"), 44);
    // Memory of an H200 is 40% faster: a ratio that a few replicas resolve.
    bool is_resolved = false;
    for (const auto& table : answer.json.at("tables"))
        for (const auto& row : table.at("rows"))
            if (row.at("benchmark") == "memory.stream" && row.at("library") == "cuda")
                is_resolved = is_resolved || row.dump().find("\"better\"") != std::string::npos ||
                              row.dump().find("\"worse\"") != std::string::npos;
    EXPECT_TRUE(is_resolved);
}

TEST(InterruptedRun, IsJudgedByWhatWasMeasured) {
    // Three and four verified replicas of each case of the device. Its file has no bounds of data sheets: those of
    // interrupted cases were not computed then, so limits that are shares of these stay open. The others do not.
    const auto answer = check({real("h100-acceptance-interrupted")}, devices_alone);
    const auto nodes = nodes_of(answer);
    ASSERT_EQ(nodes.size(), 1U) << answer.error;
    EXPECT_NE(nodes.front().verdict, "FAIL") << open_checks(nodes.front());
    std::size_t with_value = 0;
    for (const auto& one : answer.json.at("nodes").at(0).at("checks"))
        with_value += one.at("value").is_number() ? 1 : 0;
    EXPECT_GE(with_value, 12U);
    for (const auto& one : nodes.front().checks)
        if (one.place.starts_with("cuda"))
            EXPECT_THAT(one.cause, AnyOf("", "near_limit")) << one.id;
}

TEST(StaleDigest, KeepsFileFromBeingUsed) {
    const Folder folder;
    auto run = read(real("h200-acceptance"));
    const auto file = write(folder.path(), "h200", run);
    auto value = *json::read_file(file, {.bytes = std::size_t{1} << 30U});
    for (auto& c : value["cases"])
        for (auto& metric : c["metrics"])
            if (metric["value"].is_number()) metric["value"] = metric["value"].get<double>() * 1.1;
    folder.write("h200/run.json", json::to_text(value));
    for (const Words& more : {Words{}, devices_alone}) {
        const auto answer = check({folder.path()}, more);
        EXPECT_THAT(verdict_of(answer), AnyOf("INCONCLUSIVE", "")) << answer.text;
        EXPECT_NE(answer.code, 0);
        for (const auto& node : nodes_of(answer)) EXPECT_TRUE(node.runs.empty()) << node.name;
    }
    // Beside a good file of the same machine: said, and no PASS.
    write(folder.path(), "good", later(run, 1));
    const auto beside = check({folder.path()}, devices_alone);
    EXPECT_THAT(verdict_of(beside), AnyOf("INCONCLUSIVE")) << beside.error;
    ASSERT_TRUE(beside.json.is_object());
    EXPECT_GE(beside.json.at("problems").size(), 1U);
    for (const auto& node : nodes_of(beside)) EXPECT_EQ(node.runs.size(), 1U);
    // Nor by the others: its values appear nowhere.
    for (const auto* verb : {"compare", "history", "export"}) {
        const auto other = ask({verb, "--json", folder.path() / "h200"});
        EXPECT_NE(other.code, 0) << verb;
    }
}

} // namespace
} // namespace assay::decisions
