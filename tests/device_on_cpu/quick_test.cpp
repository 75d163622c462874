// SPDX-License-Identifier: Apache-2.0
//
// `assay run quick` on the device that is the CPU, beside a driver that is fake: from the places to the report and the
// comparison, in a tree of programs that has this device's module alone.

#include "cli/program.hpp"
#include "device/properties.hpp"
#include "support/fake_nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace assay::cli_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::filesystem::path result_in(const std::filesystem::path& folder) {
    const auto files = files_named(folder, "run.json");
    return files.empty() ? std::filesystem::path{} : files.front();
}

nlohmann::json read(const std::filesystem::path& file) {
    return nlohmann::json::parse(std::ifstream{file});
}

class OnCpu : public testing::Test {
protected:
    explicit OnCpu(int devices = 1)
        : nvml_{test::h200s(devices) + "* name " + std::string{device::name_on_cpu} + "\n"} {}
    Outcome assay(const std::vector<std::string>& arguments) const {
        return run(arguments, options_);
    }
    /// The suite at sizes for one core.
    Outcome quick(const std::filesystem::path& out) const {
        return assay({"run", "quick", "--replicas=1", "--patience=0",
                      "--set=memory.stream.footprint=512KiB",
                      "--set=stencil.heat3d.footprint=512KiB", "--set=transfer.host.bytes=256KiB",
                      "--set=md.lennard_jones.atoms=500", "--out=" + out.string()});
    }

    Folder folder_;
    test::FakeNvml nvml_;
    Options options_{.environment = {"LD_LIBRARY_PATH=" + nvml_.library().parent_path().string(),
                                     "ASSAY_HOLD_STREAMS=0", "ASSAY_CPU_DEVICE_MIB=2048"},
                     .output = {},
                     .interrupt_when = {}};
};

TEST_F(OnCpu, QuickGoesFromPlacesToComparison) {
    const auto ran = quick(folder_.path() / "a");
    ASSERT_EQ(ran.code, 0) << ran.output << ran.error;
    const auto file = result_in(folder_.path() / "a");
    auto result = read(file);
    ASSERT_EQ(result["cases"].size(), 10U);
    EXPECT_EQ(result["machine"]["devices"][0]["name"], device::name_on_cpu);
    bool has_bound = false;
    for (const auto& one : result["cases"]) {
        SCOPED_TRACE(one["benchmark"]);
        EXPECT_TRUE(one["verification"]["passed"]);
        EXPECT_EQ(one["place"]["uuid"], "GPU-0");
        EXPECT_EQ(one["settings"]["executed_on"], "cpu") << "such results are marked";
        EXPECT_GT(one["telemetry"]["device"]["samples"], 0);
        const auto& source = one["ceiling"]["source"].get_ref<const std::string&>();
        has_bound = has_bound || one["ceiling"]["kind"] == "measured" ||
                    source.find("was disturbed") != source.npos;
    }
    EXPECT_TRUE(has_bound);
    EXPECT_THAT(assay({"report", file}).output,
                AllOf(HasSubstr("memory.stream"), HasSubstr(std::string{device::name_on_cpu})));

    // The same again: comparable. Without the mark, as of a real device: not.
    result["run"]["id"] = "another";
    result["schema"] = "assay.run/1"; // whose files need no digests
    result.erase("digests");
    for (auto& one : result["cases"])
        for (auto& replica : one["replicas"])
            replica["low"] = replica["low"].get<double>() * (1 - 1e-12);
    const auto other = folder_.write("other.json", result.dump());
    EXPECT_THAT(assay({"compare", file, other}).output,
                AllOf(HasSubstr("triad"), Not(HasSubstr("executed on device"))));
    for (auto& one : result["cases"]) {
        one["settings"].erase("executed_on");
        for (auto& replica : one["replicas"])
            replica["low"] = replica["low"].get<double>() * (1 - 1e-12);
    }
    const auto real = folder_.write("real.json", result.dump());
    EXPECT_THAT(assay({"compare", file, real}).output, HasSubstr("executed on device"));
}

class TwoOnCpu : public OnCpu {
protected:
    TwoOnCpu() : OnCpu{2} {}
};

TEST_F(TwoOnCpu, AreMeasuredTogetherAndHeldAgainstEachAlone) {
    const auto suite = folder_.write("suite.json", R"({
      "schema": "assay.suite/1", "name": "two", "description": "for a test", "replicas": 2,
      "patience_seconds": 0, "protocol": { "min_seconds": 0.02, "budget_seconds": 0.05 },
      "cases": [ { "benchmark": "memory.stream", "parameters": { "footprint": 524288, "kernel": "triad" } },
                 { "benchmark": "memory.stream", "parameters": { "footprint": 524288, "kernel": "triad" },
                   "together": "devices" } ] })");
    const auto out = folder_.path() / "out";
    const auto ran = assay({"run", suite.string(), "--device=all", "--out=" + out.string()});
    ASSERT_EQ(ran.code, 0) << ran.output << ran.error;
    const auto result = read(result_in(out));
    std::size_t together = 0;
    for (const auto& one : result["cases"]) {
        SCOPED_TRACE(one.dump().substr(0, 300));
        EXPECT_TRUE(one["verification"]["passed"]);
        if (!one["parameters"].contains("together")) continue;
        EXPECT_EQ(one["parameters"]["together"], "devices:2");
        EXPECT_EQ(one["place"]["index"], together++);
        EXPECT_GT(one["telemetry"]["device"]["samples"], 0);
        const auto has = [&](const char* name) {
            return std::ranges::any_of(one["metrics"],
                                       [&](const auto& m) { return m["name"] == name; });
        };
        EXPECT_TRUE(has("slowest_sibling"));
        EXPECT_TRUE(has("together_to_alone"));
    }
    EXPECT_EQ(together, 2U);
}

TEST_F(TwoOnCpu, AreMeasuredAtOnceAndHeatedByDefault) {
    const auto suite = folder_.write("suite.json", R"({
      "schema": "assay.suite/1", "name": "node", "description": "for a test", "replicas": 2,
      "patience_seconds": 0, "stages": true, "devices": "at_once",
      "protocol": { "min_seconds": 0.02, "budget_seconds": 0.05 },
      "cases": [ { "benchmark": "memory.stream", "parameters": { "footprint": 524288, "kernel": "triad" } },
                 { "benchmark": "memory.stream", "parameters": { "footprint": 524288, "kernel": "triad" },
                   "devices": "alone" },
                 { "benchmark": "memory.stream", "parameters": { "footprint": 524288, "kernel": "triad" },
                   "stress": true, "protocol": { "min_seconds": 0.2, "budget_seconds": 0.2 } } ] })");
    const auto out = folder_.path() / "out";
    const auto ran = assay({"run", suite.string(), "--out=" + out.string()});
    ASSERT_EQ(ran.code, 0) << ran.output << ran.error;
    const auto file = result_in(out);
    const auto result = read(file);
    std::vector<std::string> cases;
    for (const auto& one : result["cases"]) {
        const auto& parameters = one["parameters"];
        const auto has = [&](const char* name) {
            return std::ranges::any_of(one["metrics"],
                                       [&](const auto& m) { return m["name"] == name; });
        };
        const bool is_hot = parameters.contains("stress");
        const bool is_alone = parameters.contains("alone");
        const int device = one["place"]["index"].get<int>();
        cases.push_back(std::to_string(device) + (is_hot ? " hot" : is_alone ? " alone" : ""));
        SCOPED_TRACE(cases.back());
        EXPECT_TRUE(one["verification"]["passed"]);
        EXPECT_FALSE(parameters.contains("together"));
        EXPECT_EQ(one["replicas"].size(), is_hot ? 1U : 2U);
        EXPECT_EQ(has("late_to_early"), is_hot);
        EXPECT_EQ(has("together_to_alone"), device == 0 && !is_hot && !is_alone);
        EXPECT_EQ(one["settings"].value("devices_at_once", 0), is_alone ? 0 : 2);
    }
    EXPECT_THAT(cases, testing::UnorderedElementsAre("0", "1", "0 alone", "0 hot", "1 hot"));
    EXPECT_EQ(assay({"verify", file.string()}).code, 0);
}

TEST_F(TwoOnCpu, ComputeTheSameBitsInASoak) {
    const auto suite = folder_.write("suite.json", R"({
      "schema": "assay.suite/1", "name": "two", "description": "for a test", "replicas": 1,
      "protocol": { "min_seconds": 0.02, "budget_seconds": 0.05, "warmup_seconds": 0.01 },
      "cases": [ { "benchmark": "stencil.heat3d", "together": "devices",
                   "parameters": { "footprint": 524288, "precision": "fp64", "stencil": "7_point" } },
                 { "benchmark": "memory.gather", "together": "devices",
                   "parameters": { "footprint": 65536, "direction": "scatter" } } ] })");
    nlohmann::json soak;
    for (const auto* time : {"1s", "5s", "25s"}) { // a busy machine reaches the last phase later
        const auto out = folder_.path() / time;
        const auto ran = assay({"run", suite.string(), "--device=all", std::string{"--for="} + time,
                                "--out=" + out.string()});
        ASSERT_EQ(ran.code, 0) << ran.output << ran.error;
        soak = read(result_in(out))["run"]["soak"];
        if (soak["phases"].size() == 4) break;
    }
    ASSERT_EQ(soak["phases"].size(), 4U) << "of each device";
    EXPECT_EQ(soak["wrong"], 0);
    for (std::size_t i = 0; i < 4; ++i) {
        const auto& phase = soak["phases"][i];
        SCOPED_TRACE(phase.dump().substr(0, 300));
        EXPECT_GT(phase["compared"], 0);
        EXPECT_EQ(phase["compared"], phase["calls"]);
        EXPECT_EQ(phase["digest"].get<std::string>().size(), 16U);
        EXPECT_EQ(phase["digest"], soak["phases"][i / 2 * 2]["digest"]);
    }
    EXPECT_NE(soak["phases"][0]["digest"], soak["phases"][2]["digest"]);
}

TEST(OnCpuAlone, IsOfferedToNobodyWhoDoesNotNameIt) {
    const std::filesystem::path modules{ASSAY_MODULES};
    EXPECT_FALSE(std::filesystem::exists(modules / "libdevice_on_cpu.so"));
    for (const auto& entry : std::filesystem::directory_iterator{modules})
        if (entry.path().extension() == ".so") {
            std::ifstream file{entry.path(), std::ios::binary};
            const std::string content{std::istreambuf_iterator<char>{file}, {}};
            EXPECT_THAT(content, Not(HasSubstr("libdevice_on_cpu"))) << entry.path();
        }
}

} // namespace
} // namespace assay::cli_test
