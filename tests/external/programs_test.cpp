// SPDX-License-Identifier: Apache-2.0
//
// Each description with its real program, for about a second a run. The engine shows each check an error before it
// measures, so a value here means that the check works on what this version of the program writes.

#include "cli/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::external_test {
namespace {

using cli_test::Folder;
using testing::HasSubstr;

struct Tried {
    const char* id;
    std::vector<std::string> set; ///< "param=value"
    std::vector<std::string> metrics;
};
void PrintTo(const Tried& tried, std::ostream* out) { *out << tried.id; }

/// The cases of a short run.
json::Value cases_of(const std::string& id, const std::vector<std::string>& set,
                     const Folder& folder, const std::vector<std::string>& more = {}) {
    // Few calls: the values do not matter here.
    const auto suite =
        folder.write("suite.json", fmt::format(R"({{"schema": "assay.suite/1", "name": "few",
            "description": "d", "replicas": 1, "protocol": {{"target": 0.5, "min_seconds": 0.01,
            "budget_seconds": 0.02, "warmup_seconds": 0.005}}, "cases": [{{"benchmark": "{}"}}]}})",
                                               id));
    std::vector<std::string> arguments{"run", suite,   "--patience",
                                       "0",   "--out", folder.path().string()};
    for (const auto& one : set) arguments.insert(arguments.end(), {"--set", id + '.' + one});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto outcome = cli_test::run(arguments);
    for (const auto& file : cli_test::files_named(folder.path(), "run.json")) {
        auto run = json::read_file(file);
        return run ? run->at("cases") : json::Value{};
    }
    ADD_FAILURE() << outcome.error;
    return {};
}

class Programs : public testing::TestWithParam<Tried> {};

TEST_P(Programs, AreRunAndChecked) {
    const auto& [id, set, metrics] = GetParam();
    const Folder folder;
    const auto cases = cases_of(id, set, folder);
    ASSERT_FALSE(cases.empty());
    for (const auto& c : cases) {
        const auto status = c.at("status").get<std::string>();
        const auto reason = c.value("reason", "");
        if (status == "skipped") {
            ASSERT_THAT(reason,
                        HasSubstr("not applicable")); // the program and its package, or a device
            GTEST_SKIP() << reason;
        }
        // Tests share the machine.
        ASSERT_THAT((std::vector<std::string>{"ok", "unstable", "disturbed"}),
                    testing::Contains(status))
            << reason;
        EXPECT_TRUE(c.at("verification").at("passed").get<bool>());
        for (const auto& name : metrics)
            EXPECT_TRUE(std::ranges::any_of(c.at("metrics"), [&](const auto& metric) {
                return metric.at("name") == name && metric.at("value").template get<double>() >= 0;
            })) << name;
        EXPECT_FALSE(c.at("settings").at("command").get<std::string>().empty());
    }
}

std::string name_of(const testing::TestParamInfo<Tried>& test) {
    std::string name = test.param.id;
    if (test.param.metrics.back() == "reverse_bandwidth") name += ".both_ways";
    std::ranges::replace(name, '.', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(
    Small, Programs,
    testing::Values(
        Tried{"fio.file",
              {"pattern=read,randwrite", "block=4096", "depth=4", "size=4Mi", "seconds=1"},
              {"bandwidth", "iops", "latency", "latency_p99", "latency_p999"}},
        Tried{"iperf3.tcp",
              {"direction=receive", "streams=2", "seconds=1"},
              {"bandwidth", "sent_bandwidth"}},
        Tried{"iperf3.tcp",
              {"direction=both", "streams=2", "seconds=1"},
              {"bandwidth", "sent_bandwidth", "latency", "retransmits", "reverse_bandwidth"}},
        Tried{"iperf3.udp",
              {"megabits=10", "seconds=1"},
              {"bandwidth", "sent_bandwidth", "loss", "jitter"}},
        Tried{"openssl.cipher",
              {"cipher=aes-256-gcm,sha256", "threads=one", "seconds=1"},
              {"bandwidth"}},
        Tried{"openssl.signature",
              {"signature=rsa2048", "threads=all", "seconds=1"},
              {"sign_rate", "check_rate"}},
        Tried{"sysbench.memory", {"threads=one", "seconds=1"}, {"bandwidth"}},
        Tried{"stressapptest.memory", {"megabytes=32", "threads=one", "seconds=1"}, {"bandwidth"}}),
    name_of);
INSTANTIATE_TEST_SUITE_P(
    Large, Programs,
    testing::Values(Tried{"lammps.atoms", {"cells=8", "steps=50", "processes=one"}, {"item_rate"}},
                    Tried{"gromacs.water", {"steps=100", "threads=one"}, {"simulation_rate"}},
                    Tried{"hpcc.challenge",
                          {"size=300", "block=64", "processes=one"},
                          {"flop_rate", "fft_flop_rate", "update_rate"}},
                    Tried{"ffmpeg.encode",
                          {"size=1280x720", "frames=30", "preset=ultrafast"},
                          {"item_rate", "psnr"}},
                    Tried{"ffmpeg.decode", {"size=1280x720", "frames=30"}, {"item_rate", "psnr"}},
                    Tried{"ucx_perftest.messages",
                          {"messages=200", "bytes=8", "transport=tcp"},
                          {"latency", "item_rate"}},
                    Tried{"perftest.write", {"messages=100"}, {"bandwidth"}}),
    name_of);

TEST(GoogleBenchmark, CountersOfAnyProgramAreMetrics) {
    const Folder folder;
    const std::string program = std::string{"program="} + ASSAY_COUNTED_PROGRAM;
    const auto cases = cases_of("google_benchmark.program", {program, "filter=sum/1000$"}, folder);
    ASSERT_EQ(cases.size(), 1U);
    std::vector<std::string> names;
    for (const auto& metric : cases[0].at("metrics")) names.push_back(metric.at("name"));
    EXPECT_THAT(names,
                testing::IsSupersetOf({"iteration_time", "cpu_time", "bandwidth", "item_rate"}))
        << cases[0].dump();
}

TEST(GoogleBenchmark, TwoBenchmarksAreNoValue) {
    for (const std::string filter : {"sum", "none_of_them"}) {
        const Folder folder;
        const std::string program = std::string{"program="} + ASSAY_COUNTED_PROGRAM;
        const auto cases =
            cases_of("google_benchmark.program", {program, "filter=" + filter}, folder);
        ASSERT_EQ(cases.size(), 1U);
        EXPECT_TRUE(cases[0].value("metrics", json::Value::array()).empty());
        EXPECT_THAT(cases[0].at("status").get<std::string>(),
                    testing::AnyOf("failed", "incorrect"));
        EXPECT_NE(cases[0].at("reason"), "");
    }
}

void expect_skipped(const json::Value& cases, const std::string& said) {
    ASSERT_EQ(cases.size(), 1U);
    EXPECT_EQ(cases[0].at("status"), "skipped");
    EXPECT_THAT(cases[0].at("reason").get<std::string>(),
                testing::AnyOf(HasSubstr(said), HasSubstr("fio is not installed")));
}

TEST(Fio, AFolderWithoutRoomIsAReason) {
    for (const auto& [set, said] : {std::pair{"folder=/nonexistent", "/nonexistent"},
                                    std::pair{"size=16Ti", ", which has "}}) {
        const Folder folder;
        expect_skipped(cases_of("fio.file", {set, "pattern=read", "block=4096", "depth=1"}, folder),
                       said);
    }
}

TEST(Fio, TouchesNoDeviceThatIsNotAllowed) {
    std::string device;
    for (const auto& entry : std::filesystem::directory_iterator{"/dev"})
        if (entry.is_block_file()) device = entry.path().string();
    if (device.empty()) GTEST_SKIP() << "no block device here";
    const Folder folder;
    expect_skipped(cases_of("fio.device",
                            {"device=" + device, "pattern=read", "block=4096", "depth=1"}, folder),
                   "--allow-device");
}

TEST(Install, NamesThePackagesAndDoesNothing) {
    const auto outcome = cli_test::run({"describe", "fio.file", "lammps.*", "--install"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(
        outcome.output,
        HasSubstr("apt-get install --no-install-recommends fio lammps lammps-data openmpi-bin"));
    EXPECT_EQ(cli_test::run({"describe", "memory.stream", "--install"}).code, 2);
    EXPECT_EQ(cli_test::run({"describe", "fio.file", "--yes"}).code, 2);
}

/// From list to result, with a program of the user's own.
TEST(OwnDescription, IsABenchmarkLikeAnyOther) {
    const Folder own;
    const auto tool = own.write("tool", "#!/bin/sh\necho 'rate: 7 MB/s'\necho \"size: $1\"\n");
    std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
    own.write("mine.json",
              R"json({"schema": "assay.external/1", "id": "mine.rate", "question": "How fast?",
        "method": "It says so.", "caveats": "None.",
        "program": {"name": ")json" +
                  tool.string() + R"json(", "packages": ["mine"], "licence": "MIT"},
        "parameters": [{"name": "size", "help": "of it", "range": [1, 9], "defaults": [1, 2]}],
        "command": ["{tool}", "{size}"], "time_limit": 10,
        "metrics": [{"metric": "bandwidth", "match": "rate: (.*) MB/s", "unit": "MB/s"}],
        "checks": [{"notices": "another size", "match": "size: (.*)", "equals": "{size}"}]})json");
    own.write("wrong.json", "{");
    own.write("unknown.json",
              R"json({"schema": "assay.external/1", "id": "mine.unknown", "question": "How?",
        "method": "So.", "caveats": "None.", "program": {"name": "true", "packages": ["coreutils"], "licence": "MIT"},
        "command": ["{tool}"], "time_limit": 10,
        "metrics": [{"metric": "speed", "match": "(.*)", "unit": "s"}],
        "checks": [{"notices": "a", "match": "(.*)", "equals": 1}]})json");
    const cli_test::Options with{.environment = {"ASSAY_EXTERNAL_PATH=" + own.path().string()}};
    const auto list = cli_test::run({"list"}, with);
    EXPECT_THAT(list.output, HasSubstr("mine.rate"));
    EXPECT_THAT(list.output, HasSubstr("fio.file"));
    EXPECT_THAT(list.error, HasSubstr("wrong.json"));
    EXPECT_THAT(list.error, HasSubstr("mine.unknown: its headline \"speed\" is an unknown metric"));
    EXPECT_THAT(cli_test::run({"describe", "mine.rate"}, with).output,
                HasSubstr("Licence of the program: MIT"));
    const Folder out;
    const auto ran = cli_test::run(
        {"run", "mine.rate", "--replicas", "2", "--patience", "0", "--out", out.path().string()},
        with);
    EXPECT_THAT(ran.output, HasSubstr("7.00 MB/s")) << ran.output << ran.error;
    EXPECT_NE(cli_test::run({"plan", "mine.rate"}).code, 0) << "without the folder";
}

} // namespace
} // namespace assay::external_test
