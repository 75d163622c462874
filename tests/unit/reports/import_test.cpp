// SPDX-License-Identifier: Apache-2.0
//
// Other tools' results as runs: figures in SI units, nothing made up, nothing dropped in silence.

#include "decide/check.hpp"
#include "import/figures.hpp"
#include "import/nccl.hpp"
#include "imports.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"

#include <gmock/gmock.h>

namespace assay::imports {
namespace {

using record::Status;
using namespace testing;

/// Files of the corpus; those that the fuzzer found have names of their own.
std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{ASSAY_IMPORTS})
        if (const auto name = entry.path().filename().string();
            name.starts_with("written_") || name.starts_with("recorded_"))
            names.push_back(name);
    std::ranges::sort(names);
    return names;
}

TEST(Import, EveryFormatIsKnownByItsContentAndMakesAConsistentRun) {
    for (const auto& name : files()) {
        if (name == "written_nccl-old.txt" || name == "written_nccl-2.0.txt")
            continue; // they name no collective
        const auto import = imported(name);
        const auto tool = name.substr(name.find('_') + 1, 3);
        EXPECT_TRUE(import.tool.starts_with(tool == "rcc" ? "ncc" : tool)) << name;
        const auto text = record::to_text(import.run);
        const auto again = must(record::parse_run(text, name, {.as_stored = true}));
        EXPECT_EQ(record::to_text(again), text);
        EXPECT_TRUE(decide::check_summaries(again).empty()) << name;
        ASSERT_TRUE(again.imported);
        EXPECT_EQ(again.imported->file, name);
        EXPECT_EQ(again.imported->sha256.size(), 64U);
        EXPECT_EQ(again.machine.cores, std::nullopt);
        EXPECT_EQ(again.machine.memory_bytes, std::nullopt);
    }
}

TEST(Import, GoogleBenchmarkRepetitionsAreValuesOfOneProcess) {
    const auto import = imported("written_gbench.json");
    EXPECT_EQ(import.run.started, "2026-01-31T12:34:56Z");
    EXPECT_EQ(import.run.machine.threads, 8);
    EXPECT_EQ(import.run.imported->tool_version, "1.9.1");
    const auto& copy =
        only(import.run, "gbench.BM_copy[gbench] arg0=4096 clock=real_time threads=2");
    ASSERT_EQ(copy.replicas.size(), 1U);
    EXPECT_THAT(copy.replicas[0].values,
                ElementsAre(DoubleEq(200e-9), DoubleEq(210e-9), DoubleEq(220e-9)));
    EXPECT_EQ(copy.replicas[0].calls, 1000U);
    EXPECT_NEAR(value(copy, "time"), 210e-9, 1e-15);
    EXPECT_NEAR(value(copy, "bandwidth"), 2.048e10, 1) << "what the tool gives, by its own clock";
    EXPECT_EQ(copy.metrics[0].interval_scope, record::IntervalScope::within_process);
    EXPECT_THAT(copy.warnings, ElementsAre("Imported: not verified by assay."));
    const auto& sorted = only(import.run, "gbench.BM_sort<int,_4>[gbench] size=64");
    EXPECT_NEAR(value(sorted, "time"), 3.5e-3, 1e-12) << "the mean, where there is nothing else";
    EXPECT_EQ(sorted.replicas[0].calls, std::nullopt);
    EXPECT_NE(record::find(sorted.settings, "min_time"), nullptr);
    const auto& broken = only(import.run, "gbench.BM_broken[gbench]");
    EXPECT_EQ(broken.status, Status::failed);
    EXPECT_EQ(broken.reason, "no such file");
    EXPECT_TRUE(broken.metrics.empty());
    EXPECT_THAT(import.not_understood, ElementsAre(Field(&NotUnderstood::where, "benchmarks[8]")));
    EXPECT_THAT(import.run.imported->notes, Contains(HasSubstr("counter \"misses\"")));
}

TEST(Import, GoogleBenchmarkBeforeRunTypes) {
    const auto import = imported("written_gbench-old.json");
    ASSERT_EQ(import.run.cases.size(), 1U);
    EXPECT_THAT(import.run.cases[0].replicas[0].values,
                ElementsAre(DoubleEq(50e-6), DoubleEq(52e-6)));
    EXPECT_EQ(import.run.cases[0].replicas[0].calls, std::nullopt) << "100 and 200";
    EXPECT_EQ(import.run.started, "2018-01-25T14:04:43Z");
    EXPECT_THAT(import.unknown, ElementsAre("--machine or --label"));
}

TEST(Import, NvbandwidthMatrices) {
    const auto import = imported("written_nvbandwidth.json");
    const auto& up = only(import.run, "nvbandwidth.host_to_device_memcpy_ce[nvbandwidth]@cuda");
    EXPECT_NEAR(value(up, "bandwidth"), 55e9, 1);
    EXPECT_NEAR(value(up, "best_bandwidth"), 55.5e9, 1);
    ASSERT_EQ(up.tables.size(), 1U);
    EXPECT_EQ(up.tables[0].row_title, "CPU");
    EXPECT_EQ(up.tables[0].column_title, "GPU");
    const auto& both = only(
        import.run, "nvbandwidth.device_to_device_bidirectional_memcpy_read_ce[nvbandwidth]@cuda");
    EXPECT_NEAR(value(both, "bandwidth"), 203e9, 1) << "the last of three matrices is the total";
    EXPECT_EQ(both.tables.at(0).values[0], std::nullopt);
    EXPECT_EQ(both.tables.at(0).rows.size(), 2U);
    const auto& latency = only(import.run, "nvbandwidth.host_device_latency_sm[nvbandwidth]@cuda");
    EXPECT_NEAR(value(latency, "latency"), 700e-9, 1e-15);
    EXPECT_EQ(latency.metrics[0].higher_is_better, false);
    EXPECT_EQ(only(import.run, "nvbandwidth.device_local_copy[nvbandwidth]@cuda").status,
              Status::skipped);
    EXPECT_EQ(only(import.run, "nvbandwidth.all_to_one_write_ce[nvbandwidth]@cuda").reason,
              "nvbandwidth says Error: out of memory");
    EXPECT_THAT(import.not_understood,
                ElementsAre(Field(&NotUnderstood::text, HasSubstr("something new"))));
    EXPECT_EQ(record::to_string(*record::find(import.run.machine.software, "cuda.runtime")),
              "12.4");
    EXPECT_EQ(record::to_text(import.run).find("node7"), std::string::npos);
}

TEST(Import, NcclTextOfTwoRunsOfTheTool) {
    const auto import = imported("written_nccl-new.txt");
    const auto& small = only(
        import.run,
        "nccl-tests.all_reduce[nccl]@cuda bytes=8 type=float operation=sum in_place=false ranks=4");
    ASSERT_EQ(small.replicas.size(), 2U) << "two processes are two replicas";
    EXPECT_EQ(small.replicas[0].calls, 20U);
    EXPECT_NEAR(*small.replicas[0].seconds, 16e-6, 1e-15);
    EXPECT_EQ(small.headline, "bus_bandwidth");
    EXPECT_NEAR(value(small, "bus_bandwidth"), 8 * 1.5 / 16.4924225e-6, 1)
        << "from size and time: the printed 0.00 is not a bandwidth";
    const auto& large = only(import.run, "nccl-tests.all_reduce[nccl]@cuda bytes=134217728 "
                                         "type=float operation=sum in_place=false ranks=4");
    EXPECT_NEAR(value(large, "algorithm_bandwidth") / 1e9, 167.77, 0.01);
    EXPECT_NEAR(value(large, "bus_bandwidth") / 1e9, 251.66, 0.01);
    EXPECT_TRUE(large.verification && large.verification->passed);
    EXPECT_THAT(large.warnings, ElementsAre(HasSubstr("checked by nccl-tests itself")));
    const auto& wrong = only(import.run, "nccl-tests.all_reduce[nccl]@cuda bytes=134217728 "
                                         "type=float operation=sum in_place=true ranks=4");
    EXPECT_EQ(wrong.status, Status::incorrect);
    EXPECT_TRUE(wrong.metrics.empty());
    EXPECT_THAT(import.not_understood, ElementsAre(Field(&NotUnderstood::where, "line 10"),
                                                   Field(&NotUnderstood::where, "line 17")));
    const auto& unchecked = only(import.run, "nccl-tests.all_reduce[nccl]@cuda bytes=268435456 "
                                             "type=float operation=sum in_place=true ranks=4");
    EXPECT_EQ(unchecked.verification, std::nullopt);
    EXPECT_NEAR(value(unchecked, "bus_bandwidth"), 248.55e9, 1) << "as printed: it does not follow";
}

TEST(Import, NcclTextFromBeforeItNamedItself) {
    EXPECT_THAT(refusal(file("written_nccl-old.txt")), HasSubstr("--name all_reduce"));
    const auto import = imported("written_nccl-old.txt", {.name = "reduce_scatter"});
    const auto& c = only(
        import.run,
        "nccl-tests.reduce_scatter[nccl]@cuda bytes=1048576 type=float in_place=false ranks=2");
    EXPECT_NEAR(value(c, "bus_bandwidth"), 1048576 * 0.5 / 100e-6, 1);
    EXPECT_EQ(c.verification, std::nullopt) << "an error of 0 is not shown to have been checked";
    const auto doubtful =
        run_of(changed(file("written_nccl-old.txt"), ": 0 OK", ": 2 FAILED"), "all_gather.log");
    for (const auto& wrong : doubtful.cases) EXPECT_EQ(wrong.status, Status::incorrect);
    EXPECT_EQ(doubtful.cases.at(0).benchmark, "external.nccl-tests.all_gather");
}

TEST(Import, NcclJson) {
    const auto import = imported("written_nccl.json");
    const auto& c = only(import.run, "nccl-tests.reduce_scatter[nccl]@cuda bytes=1048576 "
                                     "type=float operation=sum in_place=false ranks=8");
    EXPECT_NEAR(value(c, "bus_bandwidth") / 1e9, 18.35, 0.01);
    EXPECT_NEAR(value(c, "fastest_time"), 45e-6, 1e-12);
    EXPECT_NEAR(value(c, "slowest_time"), 60e-6, 1e-12);
    EXPECT_EQ(record::to_string(*record::find(import.run.machine.software, "nccl.version")),
              "2.27.3");
    EXPECT_EQ(import.run.ended, "2026-01-31T12:35:10Z");
    const auto text = record::to_text(import.run);
    EXPECT_EQ(text.find("SECRET"), std::string::npos);
    EXPECT_EQ(text.find("node7"), std::string::npos);
    EXPECT_THAT(import.not_understood,
                ElementsAre(Field(&NotUnderstood::where, "results[1].in_place")));
}

TEST(Import, FactorsOfBusBandwidth) {
    EXPECT_EQ(nccl::bus_factor("all_reduce", 8), 1.75);
    EXPECT_EQ(nccl::bus_factor("all_gather", 8), 0.875);
    EXPECT_EQ(nccl::bus_factor("reduce_scatter", 4), 0.75);
    EXPECT_EQ(nccl::bus_factor("alltoall", 2), 0.5);
    EXPECT_EQ(nccl::bus_factor("broadcast", 8), 1.0);
    EXPECT_EQ(nccl::bus_factor("alltoallv", 8), std::nullopt);
    EXPECT_EQ(nccl::collective_of("/x/reduce_scatter_perf"), "reduce_scatter");
    EXPECT_EQ(nccl::collective_of("alltoallv_perf"), "alltoallv");
    EXPECT_EQ(nccl_version(2708), "2.7.8");
}

TEST(Import, BabelStreamBytesAndUnits) {
    const auto import = imported("written_babelstream.csv");
    const auto& copy =
        only(import.run, "babelstream.copy[babelstream]@unknown elements=33554432 precision=fp64");
    ASSERT_EQ(copy.replicas.size(), 2U);
    EXPECT_EQ(copy.replicas[0].calls, 99U) << "the first time is left out by BabelStream";
    EXPECT_NEAR(*copy.replicas[0].seconds, 0.0105, 1e-12);
    EXPECT_NEAR(value(copy, "best_bandwidth"), 53.687e9, 1e6);
    const auto& triad =
        only(import.run, "babelstream.triad[babelstream]@unknown elements=33554432 precision=fp64");
    EXPECT_NEAR(value(triad, "bandwidth"), 3.0 * 8 * 33554432 / 0.021, 1);
    EXPECT_THAT(import.not_understood,
                ElementsAre(Field(&NotUnderstood::reason, HasSubstr("does not match")),
                            Field(&NotUnderstood::reason, HasSubstr("expected Copy"))));
    const auto other = imported("written_babelstream-mib.csv", {.place = "host"});
    const auto& n =
        only(other.run, "babelstream.nstream[babelstream] elements=1048576 precision=fp32");
    EXPECT_NEAR(value(n, "bandwidth"), 4.0 * 4 * 1048576 / 0.002, 1);
}

TEST(Import, WhatIsSaidTwiceIsOneParameter) {
    const auto run = run_of("# OSU MPI Allreduce Latency Test v7.1\n"
                            "# Size       Avg Latency(us)\n"
                            "# Datatype: MPI_INT.\n"
                            "4                       1.50\n"
                            "# Datatype: MPI_INT.\n"
                            "8                       1.60\n");
    EXPECT_EQ(record::identity(run.cases.at(1)),
              "external.osu.allreduce_latency[mpi] bytes=8 type=MPI_INT");
}

TEST(Import, OsuColumnsAndValidation) {
    const auto import =
        imported("written_osu-allreduce.txt",
                 {.library = "openmpi", .parameters = {{"ranks", std::int64_t{16}}}});
    const auto& c =
        only(import.run, "osu.allreduce_latency[openmpi] bytes=4 type=MPI_INT ranks=16");
    EXPECT_EQ(c.headline, "latency");
    EXPECT_NEAR(value(c, "latency"), 1.5e-6, 1e-15);
    EXPECT_NEAR(value(c, "fastest_latency"), 1.25e-6, 1e-15);
    EXPECT_NEAR(value(c, "slowest_latency"), 1.75e-6, 1e-15);
    EXPECT_EQ(c.replicas[0].calls, 1000U);
    EXPECT_NEAR(*c.replicas[0].p99, 2e-6, 1e-15);
    EXPECT_NEAR(value(import.run, "osu.barrier_latency[openmpi] ranks=16", "latency"), 2.75e-6,
                1e-15);
    EXPECT_THAT(import.not_understood, ElementsAre(Field(&NotUnderstood::where, "line 1"),
                                                   Field(&NotUnderstood::where, "line 8")));
    const auto p2p = imported("written_osu-p2p.txt");
    const auto& device = only(p2p.run, "osu.bi_directional_bandwidth[mpi]@cuda bytes=1");
    EXPECT_NEAR(value(device, "bandwidth"), 2.5e6, 1e-6);
    EXPECT_FALSE(has(device, "time")) << "a bandwidth of a window says nothing about one message";
    EXPECT_EQ(only(p2p.run, "osu.bi_directional_bandwidth[mpi]@cuda bytes=1048576").status,
              Status::incorrect);
    EXPECT_NEAR(value(p2p.run,
                      "osu.multiple_bandwidth_message_rate[mpi] bytes=8 pairs=2 window_size=64",
                      "item_rate"),
                2e6, 1e-6);
    EXPECT_NEAR(value(p2p.run, "osu.latency[mpi] bytes=8", "latency"), 1.12e-6, 1e-15);
}

TEST(Import, TheSameBytesAreTheSameRunAndTheSameHostTheSameMachine) {
    const auto a = imported("written_nccl-new.txt");
    EXPECT_EQ(imported("written_nccl-new.txt", {.provider = "aws"}).run.id, a.run.id);
    EXPECT_EQ(imported("written_nccl.json").run.machine.id, a.run.machine.id)
        << "both are of node7";
    EXPECT_NE(imported("written_osu-p2p.txt").run.machine.id,
              imported("written_osu-allreduce.txt").run.machine.id)
        << "nobody knows whether these are one machine";
    EXPECT_EQ(imported("written_osu-p2p.txt", {.label = "n1"}).run.machine.id,
              imported("written_osu-allreduce.txt", {.label = "n1"}).run.machine.id);
    EXPECT_EQ(imported("written_osu-p2p.txt", {.machine = "0123456789abcdef"}).run.machine.id,
              "0123456789abcdef");
    EXPECT_EQ(imported("written_osu-p2p.txt", {.started = "2025-06-30"}).run.started,
              "2025-06-30T00:00:00Z");
}

TEST(Import, WhatIsNoResultIsRefusedInOneMessage) {
    EXPECT_THAT(refusal(""), HasSubstr("is empty"));
    EXPECT_THAT(refusal("hello\n"), HasSubstr("unknown format"));
    EXPECT_THAT(refusal("{\"a\": 1}"), HasSubstr("unknown format"));
    EXPECT_THAT(refusal("# OSU MPI Latency Test v5\n"), HasSubstr("no result line"));
    EXPECT_THAT(refusal("{\"a\": 1}", {.from = "gbench"}), HasSubstr("`benchmarks` is missing"));
    EXPECT_THAT(refusal("{\"nvbandwidth\": {\"error\": \"no driver\"}}"), HasSubstr("no driver"));
    EXPECT_THAT(refusal("1 2 3", {.from = "osu"}), HasSubstr("before any line of titles"));
    EXPECT_THAT(refusal(file("written_osu-p2p.txt"), {.started = "yesterday"}),
                HasSubstr("--started"));
    EXPECT_THAT(refusal(file("written_osu-p2p.txt"), {.cases = 2}), HasSubstr("more than 2 cases"));
}

TEST(Import, TruncatedAnywhereItEndsWell) {
    for (const auto& name : files()) {
        const auto text = file(name);
        for (std::size_t length = 0; length < text.size(); length += 97) {
            const auto import = import_text(text.substr(0, length), name);
            if (!import)
                EXPECT_THAT(import.error().message, StartsWith(name));
            else
                EXPECT_TRUE(decide::check_summaries(import->run).empty()) << name << length;
        }
    }
}

} // namespace
} // namespace assay::imports
