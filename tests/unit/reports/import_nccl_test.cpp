// SPDX-License-Identifier: Apache-2.0
//
// nccl-tests and rccl-tests as people have them: launchers' labels, lists of ranks that are cut short, several jobs in
// one file, collectives that only the name of the file tells, and outputs that contradict themselves.

#include "extract/lines.hpp"
#include "import/nccl.hpp"
#include "imports.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace assay::imports {
namespace {

using namespace testing;

constexpr const char* titles =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n";

std::string settings(int devices) {
    return fmt::format("# nThread 1 nGpus {} minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 "
                       "iters: 20 agg iters: 1 validation: 1 graph: 0\n",
                       devices);
}

std::string rank(int number, const std::string& host = "node7", int group = 0) {
    return fmt::format("#  Rank {:2} Group {:2} Pid   4100 on {} device  {} [0000:04:00] NVIDIA "
                       "H100 80GB HBM3\n",
                       number, group, host, number % 8);
}

/// A line of 1 GiB in 4 ms: 268.435456 GB/s.
std::string row(const std::string& bus) {
    return fmt::format("  1073741824     268435456     float     sum      -1   4000.0  268.44  {}  "
                       "    0   4000.0  268.44  {}      0\n",
                       bus, bus);
}

constexpr const char* end = "# Out of bounds values : 0 OK\n";

/// Output of versions before 2.17, without the name of the program.
std::string output(const std::string& bus, const std::string& host = "node7") {
    return settings(8) + rank(0, host) + rank(7, host) + titles + row(bus) + end;
}

/// The one collective of an output.
std::string named(const std::string& text, const std::string& name,
                  const ImportOptions& options = {}) {
    const auto run = run_of(text, name, options);
    return run.cases.empty() ? "" : run.cases[0].benchmark;
}

std::int64_t ranks(const record::Case& c) {
    return static_cast<std::int64_t>(record::number(c.parameters, "ranks").value_or(0));
}

TEST(ImportNccl, LabelsOfMpirunAreNoPartOfALineAndTheLargestRankCounts) {
    const auto import = imported("written_nccl-mpirun.txt");
    const auto& c = only(import.run, "nccl-tests.all_reduce[nccl]@cuda bytes=1073741824 type=float "
                                     "operation=sum in_place=false ranks=16");
    // 2 * 15 / 16 * 2^30 B / 4 ms
    EXPECT_NEAR(value(c, "bus_bandwidth"), 503.31648e9, 1e3);
    EXPECT_NEAR(value(c, "algorithm_bandwidth"), 268.435456e9, 1e3);
    EXPECT_EQ(import.not_understood.size(), 1U) << "what NCCL itself printed";
    EXPECT_EQ(import.not_understood[0].where, "line 8");
    EXPECT_EQ(record::to_string(*record::find(import.run.machine.software, "nccl.version")),
              "2.27.3");
}

TEST(ImportNccl, LabelsOfEveryLauncher) {
    const auto labelled = [](const std::string& label) {
        std::string text;
        const auto plain = output("234.88");
        for (const auto line : split(plain, "\n")) text += label + std::string{line} + '\n';
        return text;
    };
    for (const char* label :
         {"[1,0]<stdout>:", "[1,0]<stdout> ", "[prterun-node7-99@1,0]<stdout>: ",
          "Mon Nov 23 12:13:25 2026[1,0]<stdout>:", "[0] ", "0: ", " 0: "}) {
        const auto run = run_of(labelled(label), "all_gather.log");
        ASSERT_EQ(run.cases.size(), 2U) << label;
        EXPECT_EQ(ranks(run.cases[0]), 8) << label;
        EXPECT_NEAR(value(run.cases[0], "bus_bandwidth"), 0.875 * 268.435456e9, 1e3) << label;
    }
}

TEST(ImportNccl, LinesOfOneLabelBelongTogether) {
    // Two copies, each on its own, whose lines srun mixed.
    const auto copy = output("234.88");
    std::string text;
    for (const auto line : split(copy, "\n")) text += fmt::format("0: {0}\n1: {0}\n", line);
    const auto run = run_of(text, "all_gather.log");
    ASSERT_EQ(run.cases.size(), 2U);
    EXPECT_EQ(run.cases[0].replicas.size(), 2U) << "two processes";
    EXPECT_EQ(take_label("0: x").label, "0");
    EXPECT_EQ(take_label("Device 0: x").label, "");
    EXPECT_EQ(take_label("[ pairs: 2 ]").label, "");
    EXPECT_EQ(take_label("12:34:56 x").label, "");
}

TEST(ImportNccl, TwoJobsInOneFileKeepTheirNames) {
    const auto import = imported("written_nccl-two-jobs.txt");
    ASSERT_EQ(import.run.cases.size(), 4U);
    const auto& gathered =
        only(import.run,
             "nccl-tests.all_gather[nccl]@cuda bytes=67108864 type=float in_place=false ranks=8");
    // 7 / 8 * 2^26 B / 300 us
    EXPECT_NEAR(value(gathered, "bus_bandwidth"), 195.734187e9, 1e3);
    const auto& scattered = only(import.run, "nccl-tests.reduce_scatter[nccl]@cuda bytes=67108864 "
                                             "type=float operation=sum in_place=false ranks=8");
    EXPECT_NEAR(value(scattered, "bus_bandwidth"), 183.500800e9, 1e3);
    EXPECT_TRUE(import.not_understood.empty());
}

TEST(ImportNccl, TheLineThatStartedAProgramNamesTheOutputBehindIt) {
    const auto labelled = [](const std::string& text) {
        std::string all;
        for (const auto line : split(text, "\n"))
            all += "[1,0]<stdout>:" + std::string{line} + '\n';
        return all;
    };
    // The shell's lines have no label; the two collectives have the same factor.
    const auto run =
        run_of("+ mpirun --tag-output -np 8 ./all_gather_perf -g 1\n" + labelled(output("234.88")) +
                   "+ mpirun -np 8 ./alltoall_perf\n" + labelled(output("234.88")),
               "x");
    ASSERT_EQ(run.cases.size(), 4U);
    EXPECT_EQ(run.cases[0].benchmark, "external.nccl-tests.all_gather");
    EXPECT_EQ(run.cases[2].benchmark, "external.nccl-tests.alltoall");
    EXPECT_THAT(refusal("./all_gather_perf -g 8\n" + output("234.88") +
                        "/opt/all_gather_perf exited\n" + output("234.88")),
                HasSubstr("line 9: does not say which collective"));
}

TEST(ImportNccl, TheSameJobTwiceIsTwoReplicasOnOneHostAndRefusedOnTwo) {
    const auto text = output("234.88") + output("234.88");
    const auto twice = run_of(text, "all_gather.log");
    EXPECT_EQ(twice.cases[0].replicas.size(), 2U);
    EXPECT_THAT(twice.imported->notes, ElementsAre(HasSubstr("several outputs in the file")));
    const auto why = refusal(output("234.88") + output("234.88", "node8"), {.name = "all_gather"});
    EXPECT_THAT(why, AllOf(HasSubstr("line 1 and line 7"), HasSubstr("node7"), HasSubstr("node8")));
    // Other cases, other hosts: one log of several sizes of a job.
    const auto other = settings(16) + rank(0) + rank(15, "node8") + titles + row("251.66") + end;
    EXPECT_EQ(run_of(output("234.88") + other, "all_gather.log").cases.size(), 4U);
}

TEST(ImportNccl, OutputsThatWereMixedAreRefusedWithTheirLines) {
    const auto header = settings(8) + rank(0) + rank(7) + titles;
    const ImportOptions gather{.name = "all_gather"};
    EXPECT_THAT(refusal(header + row("234.88") + end + row("234.88") + end, gather),
                HasSubstr("line 7: results follow the end of another output at line 6"));
    EXPECT_THAT(refusal(settings(8) + rank(0) + rank(1) + rank(0) + titles + row("234.88"), gather),
                HasSubstr("line 4: rank 0 is listed twice, first at line 2"));
}

TEST(ImportNccl, RanksOfWholeProcessesAndOfCommunicatorsThatSplit) {
    const ImportOptions gather{.name = "all_gather"};
    // Sixteen devices a process, the list cut behind the sixth of the second one: 32 ranks, 31 / 32.
    const auto cut = settings(16) + rank(0) + rank(21) + "...\n" + titles + row("260.05") + end;
    EXPECT_EQ(ranks(run_of(cut, "x", gather).cases[0]), 32);
    // Two communicators of two ranks each: 1 / 2.
    const auto halves = settings(4) + rank(0, "n", 0) + rank(1, "n", 1) + rank(2, "n", 0) +
                        rank(3, "n", 1) + titles + row("134.22") + end;
    EXPECT_EQ(ranks(run_of(halves, "x", gather).cases[0]), 2);
    // No list at all: only the person knows.
    const auto bare = std::string{titles} + row("234.88") + end;
    EXPECT_EQ(record::find(run_of(bare, "x", gather).cases[0].parameters, "ranks"), nullptr);
    const auto told =
        run_of(bare, "x", {.name = "all_gather", .parameters = {{"ranks", std::int64_t{8}}}});
    EXPECT_EQ(ranks(told.cases[0]), 8);
    EXPECT_THAT(refusal(output("234.88"),
                        {.name = "all_gather", .parameters = {{"ranks", std::int64_t{4}}}}),
                HasSubstr("lists 8 ranks, but --parameter is ranks=4"));
}

TEST(ImportNccl, CollectivesAreNamedExactlyOrRefused) {
    using nccl::collective_of;
    using nccl::collective_of_file;
    EXPECT_EQ(collective_of("/x/all_gather_perf"), "all_gather");
    EXPECT_EQ(collective_of("all_reduce_perf_mpi"), "all_reduce");
    EXPECT_EQ(collective_of("AllGather"), "all_gather");
    EXPECT_EQ(collective_of("allgather"), "all_gather");
    EXPECT_EQ(collective_of("reducescatter"), "reduce_scatter");
    EXPECT_EQ(collective_of("hypercube_perf"), "hypercube");
    EXPECT_EQ(collective_of("my_reduce_perf"), "") << "some other program";
    EXPECT_EQ(collective_of_file("logs/nccl_allreduce.log"), "all_reduce");
    EXPECT_EQ(collective_of_file("allgather.txt"), "all_gather");
    EXPECT_EQ(collective_of_file("all-to-all.2026.log"), "alltoall");
    EXPECT_EQ(collective_of_file("reduce-scatter_8gpu.log"), "reduce_scatter");
    EXPECT_EQ(collective_of_file("sendrecv.log"), "sendrecv");
    EXPECT_EQ(collective_of_file("gathered.log"), "");
    EXPECT_EQ(collective_of_file("reduce.and.gather.log"), "") << "which?";
}

TEST(ImportNccl, TheNameOfTheFileIsTheLastResortAndTheBandwidthsMustFitIt) {
    EXPECT_EQ(named(output("234.88"), "allgather.log"), "external.nccl-tests.all_gather");
    EXPECT_EQ(named(output("234.88"), "reducescatter.log"), "external.nccl-tests.reduce_scatter");
    const auto run = run_of(output("469.77"), "nccl_allreduce.log");
    EXPECT_EQ(run.cases[0].benchmark, "external.nccl-tests.all_reduce");
    EXPECT_NEAR(value(run.cases[0], "bus_bandwidth"), 1.75 * 268.435456e9, 1e3);
    // Three ways to say the wrong one.
    EXPECT_THAT(refusal(output("469.77"), {}, "reduce.log"),
                AllOf(HasSubstr("line 5"), HasSubstr("is 1.75"),
                      HasSubstr("reduce (by the file's name)"), HasSubstr("all_reduce would fit")));
    EXPECT_THAT(refusal(output("469.77"), {.name = "gather"}), HasSubstr("gather (by --name)"));
    const auto wrong_list = "# Collective test starting: all_reduce_perf\n" + settings(1) +
                            rank(0) + rank(3) + titles + row("469.77");
    EXPECT_THAT(refusal(wrong_list),
                HasSubstr("1.5 is expected of all_reduce (as the output says) on 4 ranks"));
    EXPECT_EQ(ranks(run_of(wrong_list, "x", {.parameters = {{"ranks", std::int64_t{8}}}}).cases[0]),
              8);
    // The end of one output does not name the next.
    EXPECT_THAT(refusal("# Collective test starting: broadcast_perf\n" + output("268.44") +
                        "# Collective test concluded: broadcast_perf\n" + output("268.44")),
                HasSubstr("line 9: does not say which collective"));
    // Nothing says it, or nothing that is known.
    EXPECT_THAT(
        refusal(output("469.77")),
        AllOf(HasSubstr("it.txt: line 1: does not say which collective"), HasSubstr("--name")));
    EXPECT_THAT(refusal(output("469.77"), {.name = "bcast"}),
                AllOf(HasSubstr("unknown collective \"bcast\""), HasSubstr("broadcast")));
    EXPECT_THAT(refusal("# Collective test starting: my_perf\n" + output("469.77")),
                HasSubstr("line 1: unknown collective \"my_perf\""));
    EXPECT_THAT(refusal("# Collective test starting: all_reduce_perf\n" + output("469.77"),
                        {.name = "reduce"}),
                HasSubstr("the output is of all_reduce, but --name is reduce"));
}

TEST(ImportNccl, SingleIterationsOf219AndTimesOfTheCpu) {
    const auto text =
        "# nccl-tests version 2.19.6 nccl-headers=22907 nccl-library=22907\n"
        "# Collective test starting: all_gather_perf\n" +
        settings(8) + rank(0) + rank(7) +
        "# size count type redop root cputime algbw busbw #wrong i_min i_max i_p99 "
        "i_cv% cputime algbw busbw #wrong i_min i_max i_p99 i_cv%\n"
        "1073741824 33554432 float none -1 4000.0 268.44 234.88 0 3900.0 4200.0 4150.0 "
        "1.50 4100.0 261.89 229.15 N/A 4000.0 4300.0 4250.0 1.60\n";
    const auto run = run_of(text, "x");
    ASSERT_EQ(run.cases.size(), 2U);
    const auto& c = only(run, "nccl-tests.all_gather[nccl]@cuda bytes=1073741824 type=float "
                              "in_place=true ranks=8 clock=cpu");
    EXPECT_NEAR(value(c, "bus_bandwidth"), 0.875 * 1073741824 / 4100e-6, 1e3);
    EXPECT_NEAR(value(c, "fastest_time"), 4e-3, 1e-12);
    EXPECT_NEAR(value(c, "slowest_time"), 4.3e-3, 1e-12);
    EXPECT_NEAR(*c.replicas[0].p99, 4.25e-3, 1e-12);
    EXPECT_EQ(c.verification, std::nullopt);
    EXPECT_EQ(run.imported->tool_version, "2.19.6");
}

TEST(ImportNccl, OutputOfVersion2WasInMilliseconds) {
    const auto import = imported("written_nccl-2.0.txt", {.name = "all_reduce"});
    ASSERT_EQ(import.run.cases.size(), 2U);
    EXPECT_NEAR(*import.run.cases[0].replicas[0].seconds, 1.6e-3, 1e-12);
    // 1.5 * 2^25 B / 1.6 ms
    EXPECT_NEAR(value(import.run.cases[0], "bus_bandwidth"), 31.45728e9, 1e3);
    EXPECT_EQ(ranks(import.run.cases[0]), 4);
}

TEST(ImportNccl, BeforeTwoSevenAllGatherPrintedTheBusBandwidthTwice) {
    const auto text =
        settings(8) + rank(0) + rank(7) +
        "#       size         count    type     time   algbw   busbw  error     time   "
        "algbw   busbw  error\n"
        "  1073741824      33554432   float   4000.0  234.88  234.88  0e+00   4000.0  "
        "234.88  234.88  0e+00\n";
    const auto run = run_of(text, "all_gather.txt");
    EXPECT_NEAR(value(run.cases[0], "bus_bandwidth"), 0.875 * 268.435456e9, 1e3);
    EXPECT_NEAR(value(run.cases[0], "algorithm_bandwidth"), 268.435456e9, 1e3);
}

TEST(ImportNccl, HypercubeCountsNothingToItself) {
    const auto text =
        settings(8) + rank(0) + rank(7) + titles +
        "  1073741824      33554432     float    none      -1   4000.0  234.88  234.88 "
        "     0   4000.0  234.88  234.88      0\n";
    const auto run = run_of(text, "hypercube_perf.out");
    EXPECT_NEAR(value(run.cases[0], "bus_bandwidth"), 0.875 * 268.435456e9, 1e3);
    EXPECT_TRUE(run.imported->notes.empty()) << "everything follows";
}

TEST(ImportNccl, RcclOnAmd) {
    const auto import = imported("written_rccl.txt");
    const auto& c = only(import.run, "nccl-tests.all_reduce[rccl]@hip bytes=1048576 type=float "
                                     "operation=sum in_place=false ranks=2");
    EXPECT_NEAR(value(c, "bus_bandwidth"), 16.384e9, 1e3); // 1 * 2^20 B / 64 us
    EXPECT_THAT(c.verification->method, HasSubstr("rccl-tests"));
    const auto software = [&](const char* name) {
        return record::text(import.run.machine.software, name);
    };
    EXPECT_EQ(software("rccl-tests.version"), "develop:0123abc");
    EXPECT_EQ(software("rccl.version"), "2.27.7-develop:4567def");
    EXPECT_EQ(software("hip.version"), "7.0.51831-89abcdef0");
    EXPECT_EQ(software("device"), "AMD Instinct MI300X");
    // The list of devices is enough: older versions name themselves nowhere else.
    auto older = file("written_rccl.txt");
    for (const std::string line :
         {"rccl-tests: Version develop:0123abc\n", "RCCL version : 2.27.7-develop:4567def\n"})
        older.erase(older.find(line), line.size());
    EXPECT_EQ(run_of(older, "x").cases[0].library, "rccl");
}

TEST(ImportNccl, HearsTheSumOfWrongValuesWhereNoLineHasOne) {
    auto unchecked = row("469.77");
    for (auto at = unchecked.find("  0 "); at != std::string::npos; at = unchecked.find("  0 "))
        unchecked.replace(at, 3, "N/A");
    unchecked.replace(unchecked.rfind("0\n"), 1, "N/A");
    const auto run = run_of(settings(8) + rank(0) + rank(7) + titles + unchecked +
                                "# Out of bounds values : 2 FAILED\n",
                            "all_reduce.log");
    for (const auto& c : run.cases) EXPECT_EQ(c.status, record::Status::incorrect);
}

TEST(ImportNccl, JsonOfRccl) {
    const auto import = imported("written_rccl.json");
    const auto& c = only(import.run, "nccl-tests.reduce_scatter[rccl]@hip bytes=1048576 type=half "
                                     "operation=sum in_place=false ranks=8");
    EXPECT_NEAR(value(c, "bus_bandwidth"), 11.4688e9, 1e3); // 7 / 8 * 2^20 B / 80 us
    EXPECT_TRUE(c.verification && c.verification->passed);
    EXPECT_EQ(import.run.cases[1].verification, std::nullopt) << "N/A";
    EXPECT_EQ(import.not_understood.size(), 1U);
}

TEST(ImportNccl, JsonOfNcclNamesItsCollectiveExactlyToo) {
    const auto text =
        changed(file("written_nccl.json"), "reduce_scatter_perf\",", "allgather_perf\",");
    EXPECT_EQ(named(text, "x.json"), "external.nccl-tests.all_gather");
}

} // namespace
} // namespace assay::imports
