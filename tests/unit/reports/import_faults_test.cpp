// SPDX-License-Identifier: Apache-2.0
//
// Kinds of fault in the outputs that people have, of every tool: what is imported of each, or why nothing is. A row is one
// situation in the shortest output that shows it.

#include "imports.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace assay::imports {
namespace {

using namespace testing;

/// "triad ok bandwidth=4.25e+10": the figure is the case's first.
std::string in_short(const Case& c) {
    auto out = fmt::format("{} {}", c.benchmark.substr(c.benchmark.rfind('.') + 1),
                           record::to_string(c.status));
    if (!c.metrics.empty())
        out +=
            fmt::format(" {}={:.4g}", c.metrics.front().name, c.metrics.front().value.value_or(0));
    return out;
}

struct Row {
    const char* name;
    std::string text;
    std::vector<std::string> cases; ///< empty: refused
    std::string said{};             ///< in the refusal, a note or an unread line
};

void expect_rows(const std::vector<Row>& rows) {
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto import = import_text(row.text, "it.txt", {});
        std::vector<std::string> cases;
        std::string said = import ? "" : import.error().message;
        if (import) {
            for (const auto& c : import->run.cases) cases.push_back(in_short(c));
            for (const auto& note : import->run.imported->notes) said += note + '\n';
            for (const auto& line : import->not_understood) said += line.reason + '\n';
        }
        EXPECT_EQ(cases, row.cases) << said;
        EXPECT_THAT(said, HasSubstr(row.said));
    }
}

// --- texts -----------------------------------------------------------------------------------------

std::string stream(const std::string& rows, const std::string& end = " Solution Validates!\n") {
    return " Assuming 8 bytes per DOUBLE PRECISION word\n Array size =   1000000\n"
           " You are running each test  10 times\n Number of Threads =  4\n"
           "Function     Rate (MB/s)  Avg time   Min time  Max time\n" +
           rows + end;
}
const std::string copy_row = "Copy:       16000.0000      0.00110000  0.00100000  0.00120000\n";
const std::string scale_row = "Scale:      8000.0000      0.00210000  0.00200000  0.00220000\n";
const std::string copy_ok = "copy ok bandwidth=1.455e+10";
const std::string scale_ok = "scale ok bandwidth=7.619e+09";

const std::string osu = "# OSU MPI Latency Test v7.3\n# Size       Avg Latency(us)\n";

std::string nccl(const std::string& rows, const std::string& bounds) {
    return "# Collective test starting: all_reduce_perf\n"
           "# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 "
           "agg "
           "iters: 1 validation: 1 graph: 0\n"
           "#  Rank  0 Group  0 Pid  7 on  n1 device  0 [0x10] GPU\n"
           "#  Rank  1 Group  0 Pid  7 on  n1 device  1 [0x20] GPU\n"
           "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
           rows + "# Out of bounds values : " + bounds + "\n";
}
const std::string nccl_row =
    "1048576 262144 float sum -1 100.0 10.49 10.49 0 100.0 10.49 10.49 0\n";

const std::string nv_head = "nvbandwidth Version: v0.7\nDevice 0: A\nDevice 1: A\n";
const std::string nv_test = "Running device_to_device_memcpy_read_ce.\n"
                            "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n 0 1\n";

std::string iperf(const std::string& protocol, const std::string& more, const std::string& end) {
    return R"({"start": {"version": "iperf 3.12", "test_start": {"protocol": ")" + protocol +
           R"(", "num_streams": 1)" + more + R"(}}, "intervals": [], "end": {)" + end + "}}\n";
}
std::string sum(const char* name, const char* rate, const char* more = "") {
    return fmt::format(R"("{}": {{"bits_per_second": {}{}}})", name, rate, more);
}

std::string dcgm(const std::string& tests, const std::string& more = "") {
    return R"({"DCGM Diagnostic": {"metadata": {"DCGM Version": "4.2.0"})" + more +
           R"(, "test_categories": [{"category": "c", "tests": [)" + tests + "]}]}}\n";
}

// --- tables ----------------------------------------------------------------------------------------

TEST(ImportFaults, OfTables) {
    expect_rows({
        {"lines of other programs between rows",
         osu + "1 1.50\nWARNING: no preset parameters\n  Local host: n1\n2 1.60\n",
         {"latency ok latency=1.5e-06", "latency ok latency=1.6e-06"},
         "not a row of a known table"},
        {"a line of another program before the rows of a matrix",
         nv_head + nv_test + "[n1:7] device busy\n 0 N/A 100.00\n 1 102.00 N/A\n",
         {"device_to_device_memcpy_read_ce ok bandwidth=1.01e+11"}},
        {"a matrix that is cut", nv_head + nv_test + " 0 N/A 100.00\n", {}, "1 of 2 rows"},
        {"a test that is waived, by its older word",
         nv_head + nv_test + " 0 N/A 100.00\n 1 102.00 N/A\nWaiving device_local_copy.\n",
         {"device_to_device_memcpy_read_ce ok bandwidth=1.01e+11", "device_local_copy skipped"}},
        {"a section in a title of its own",
         "mdtest-3.4.0 was launched with 2 total task(s) on 1 node(s)\nSUMMARY rate: (of 2 "
         "iterations)\n"
         "   Operation         per Rank:      Max            Min     per Iteration: Max     Min    "
         "Mean\n"
         "   File stat       :     3043769.404     287525.698   341047.835  287525.698  "
         "315202.706\n",
         {"file_stat ok file_operation_rate=3.152e+05"}},
        {"a cell of 0",
         nv_head + nv_test + " 0 N/A 0.00\n 1 102.00 N/A\n",
         {"device_to_device_memcpy_read_ce ok bandwidth=1.02e+11"},
         "cells of 0 were not measured"},
        {"a file that ends within a number",
         osu + "1 1.50\n2 12",
         {"latency ok latency=1.5e-06"},
         "incomplete row at the end"},
        {"a file without a last line end",
         osu + "1 1.50\n2 1.60",
         {"latency ok latency=1.5e-06", "latency ok latency=1.6e-06"}},
        {"two copies that wrote at the same time",
         osu + "1 1.50\n1 2.50\n2 1.60\n2 2.60\n",
         {},
         "occurs twice in one output"},
        {"two copies, titles and all",
         "# OSU MPI Latency Test v7.3\n# OSU MPI Latency Test v7.3\n# Size       Avg Latency(us)\n"
         "# Size       Avg Latency(us)\n1 1.50\n1 2.50\n",
         {},
         "srun --label"},
        {"blanks of a web page",
         osu + "1\xc2\xa0\xc2\xa0\xc2\xa0"
               "1.50\n",
         {"latency ok latency=1.5e-06"}},
        {"a unit of another size",
         changed(osu, "Latency(us)", "Latency(ms)") + "1 1.50\n",
         {},
         "column \"Avg Latency(ms)\""},
        {"limits of time and exit codes behind a good table",
         stream(copy_row) + "srun: error: n1: task 0: Exited with exit code 1\n"
                            "slurmstepd: error: *** STEP 9.0 CANCELLED DUE TO TIME LIMIT ***\n",
         {copy_ok},
         "DUE TO TIME LIMIT"},
    });
}

// --- numbers ---------------------------------------------------------------------------------------

TEST(ImportFaults, OfNumbers) {
    // One that cannot be read costs its row; none is read a thousand times too small.
    for (const char* bad : {"1.6D+04", "*******", "16,000.0", "16000,0", "inf", "NaN", "0.0", "-1"})
        expect_rows({{bad,
                      stream(changed(copy_row, "16000.0000", bad) + scale_row),
                      {scale_ok},
                      "expected a positive number"}});
    expect_rows({
        {"separators in the number of elements",
         changed(stream(copy_row), "1000000", "1,000,000"),
         {},
         "is not positive"},
        {"separators in a rate within a sentence",
         "sysbench 1.0.20\nNumber of threads: 4\n  block size: 1KiB\n"
         "78,125.00 MiB transferred (7,812.50 MiB/sec)\n",
         {},
         "invalid value \"7,812.50\""},
        {"separators in front of a comma",
         "HPL-AI Mixed-Precision Benchmark v2\nN=1000\nGFLOPS = 1,234.5, per GPU = 617.2\n"
         "||Ax-b||_oo/x = 1e-3 ...... PASSED\n",
         {},
         "expected a time and Gflops"},
        {"megabytes of a version that does not say which",
         "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n"
         "100.00 MB transferred (1953.12 MB/sec)\n",
         {},
         "does not say which megabytes"},
        {"an array of clients, keys that come twice",
         R"({"fio version": "fio-3.36", "client_stats": [{"jobname": "r", "hostname": "n1", "error": 0,
             "job options": {"filename": "a", "filename": "b"}, "read": {"io_bytes": 1, "bw": 1000}}]})",
         {"read ok bandwidth=1.024e+06"}},
        {"fio 2, which has KiB/s and microseconds",
         R"({"fio version": "fio-2.2.10", "jobs": [{"jobname": "r", "error": 0, "read": {"io_bytes": 1,
             "bw": 1000, "iops": 1.5, "lat": {"mean": 50.5}}}]})",
         {"read ok bandwidth=1.024e+06"}},
    });
}

// --- verdicts --------------------------------------------------------------------------------------

TEST(ImportFaults, OfVerdicts) {
    const std::string summary =
        "MLPerf Results Summary\nScenario : Offline\nMode : PerformanceOnly\n"
        "Samples per second: 107.28\nResult is : VALID\n";
    expect_rows({
        {"a verdict that the output lacks", stream(copy_row, ""), {copy_ok}, "no verdict"},
        {"killed before its verdict",
         stream(copy_row, "Segmentation fault (core dumped)\n"),
         {copy_ok},
         "Segmentation fault"},
        {"a verdict in front of the table",
         "Failed Validation on array a[]\n" + stream(copy_row, ""),
         {"copy incorrect"}},
        {"the second of two runs is wrong",
         stream(copy_row) + stream(copy_row, "Failed Validation on array b[]\n"),
         {"copy incorrect"}},
        {"wrong values that no row names",
         nccl(nccl_row, "3 FAILED"),
         {"all_reduce incorrect", "all_reduce incorrect"}},
        {"wrong values that a row names",
         nccl(changed(nccl_row, "10.49 0 100", "10.49 3 100"), "3 FAILED"),
         {"all_reduce incorrect", "all_reduce ok bus_bandwidth=1.049e+10"}},
        {"VALID with errors in the log",
         summary + "3 ERRORS encountered. See detailed log.\n",
         {"offline incorrect"}},
        {"all OK, and nothing was done",
         "GPU 0: A (UUID: GPU-1)\nCouldn't init a GPU test: Error in \"init\"\n"
         "100.0%  proc'd: 0 (0 Gflop/s)   errors: 0\nTested 1 GPUs:\n\tGPU 0: OK\n",
         {},
         "rate.0: invalid value \"0\""},
        {"a GPU's verdict of a whole test",
         dcgm(R"({"name": "pcie", "results": [{"entity_id": 0, "status": "Pass"}],
                  "test_summary": {"status": "Fail"}})"),
         {"pcie ok score=1", "pcie incorrect"}},
        {"no case, and an error of the whole",
         dcgm("", R"(, "runtime_error": "nvvs crashed")"),
         {},
         "nvvs crashed"},
        {"atoms at nan",
         "LAMMPS (2 Aug 2023)\npair_style eam\n 100 nan nan\n"
         "Loop time of 2.5 on 4 procs for 100 steps with 32000 atoms\n",
         {"loop incorrect"}},
        {"no device is left",
         "GPU 0: A (UUID: GPU-1)\n10.0%  proc'd: 100 (15000 Gflop/s)   errors: -1 (DIED!)\n"
         "No clients are alive!  Aborting\n",
         {},
         "ended before it said which devices are OK"},
        {"the rate of one device is not a number",
         "GPU 0: A (UUID: GPU-1)\nInitialized device 0 with 1 MB of memory, using FLOATS\n"
         "9.0%  proc'd: 9 (nan Gflop/s) - 9 (15000 Gflop/s)  errors: 0 - 0\n"
         "Tested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: OK\n",
         {"products ok flop_rate=1.5e+13"},
         "invalid value \"nan\""},
    });
}

// --- what was done of what was asked for -----------------------------------------------------------

TEST(ImportFaults, OfPartialFailure) {
    expect_rows({
        {"an error behind the first of two loops",
         "LAMMPS (2 Aug 2023)\npair_style eam\n"
         "Loop time of 2.5 on 4 procs for 100 steps with 32000 atoms\nERROR: Lost atoms\n",
         {"loop ok atom_step_rate=1.28e+06", "loop failed"}},
        {"two loops of as many steps, which are other work",
         "LAMMPS (2 Aug 2023)\npair_style eam\n"
         "Loop time of 2.5 on 4 procs for 100 steps with 32000 atoms\n"
         "Loop time of 7.5 on 4 procs for 100 steps with 32000 atoms\n",
         {"loop ok atom_step_rate=6.4e+05"},
         "differ by more than half"},
        {"a loop of no steps",
         "LAMMPS (2 Aug 2023)\npair_style eam\n"
         "Loop time of 1e-6 on 4 procs for 0 steps with 32000 atoms\n"
         "Loop time of 2.5 on 4 procs for 100 steps with 32000 atoms\n",
         {"loop ok atom_step_rate=1.28e+06"}},
        {"a benchmark that ended with a code",
         R"({"node": "n1", "nccl-bw/return_code": 3, "kernel-launch/return_code": 0,
             "kernel-launch/event_time:0": 0.006})",
         {"nccl_bw failed", "event_time ok time=6e-06"}},
        {"a fatal error instead of a result",
         ":-) GROMACS - gmx mdrun, 2024.1 (-:\nFatal error:\nThe energy is nan\n",
         {},
         "reports Fatal error"},
        {"errors that fio went on after",
         R"({"fio version": "fio-3.36", "jobs": [{"jobname": "a", "error": 0, "total_err": 3,
             "first_error": 84, "read": {"io_bytes": 9, "bw_bytes": 9}}]})",
         {"read incorrect"}},
        {"a server that was not there",
         R"({"start": {"version": "iperf 3.12"}, "end": {}, "error": "unable to connect"})",
         {},
         "unable to connect"},
        {"a job that broke off, and one that read other data than it wrote",
         R"({"fio version": "fio-3.36", "jobs": [
             {"jobname": "a", "error": 5, "read": {"io_bytes": 9, "bw_bytes": 9}},
             {"jobname": "b", "error": 84, "read": {"io_bytes": 9, "bw_bytes": 9}},
             {"jobname": "c", "error": 0, "read": {"io_bytes": 9, "bw_bytes": 9}}]})",
         {"read failed", "read incorrect", "read ok bandwidth=9"}},
    });
}

// --- conditions ------------------------------------------------------------------------------------

TEST(ImportFaults, OfConditions) {
    const auto loss = [](const char* percent) {
        return iperf("UDP", "",
                     sum("sum", "8e9", fmt::format(R"(, "lost_percent": {})", percent).c_str()));
    };
    expect_rows({
        {"datagrams that were sent and lost", loss("50.5"), {"udp ok sent_bandwidth=1e+09"}},
        {"datagrams that arrived", loss("0"), {"udp ok bandwidth=1e+09"}},
        {"two directions at once",
         iperf("TCP", R"(, "bidir": 1)",
               sum("sum_received", "8e9") + ", " + sum("sum_received_bidir_reverse", "4e9")),
         {"tcp ok bandwidth=1e+09", "tcp_reverse ok bandwidth=5e+08"}},
        {"clocks instead of nanoseconds",
         "Intel(R) Memory Latency Checker - v3.9\nMeasuring idle latencies (in clocks)...\n"
         "\t\tNuma node\nNuma node\t 0\n 0\t 300.5\n",
         {}},
    });
    const auto c = run_of(iperf("TCP", R"(, "bidir": 1)", sum("sum_received", "8e9"))).cases.at(0);
    EXPECT_EQ(record::identity(c), "external.iperf3.tcp[iperf3] streams=1 direction=both");
    const auto file = run_of("sysbench 1.0.20\nNumber of threads: 4\n2GiB total file size\n"
                             "Block size 16KiB\nDoing random r/w test\n    read, MiB/s: 15.63\n");
    EXPECT_EQ(record::identity(file.cases.at(0)),
              "external.sysbench.file_read[sysbench] threads=4 block=16384 operation=r/w "
              "order=random files=2147483648");
}

// --- files -----------------------------------------------------------------------------------------

TEST(ImportFaults, ReadsJsonBehindLabelsTimesAndColours) {
    for (const char* name : {"written_fio.json", "written_nvbandwidth.json", "written_iperf3.json"})
        for (const char* front :
             {"0: ", "[1,0]<stdout>:", "2026-01-31T12:34:56.789Z ", "\x1b[0m"}) {
            std::string text;
            const auto whole = file(name);
            for (const auto line : split(whole, "\n")) text += front + std::string{line} + '\n';
            EXPECT_EQ(run_of(text).cases.size(), imported(name).run.cases.size()) << name << front;
        }
}

TEST(ImportFaults, TakesSeveralOutputsOfAFileForProcesses) {
    for (const char* name : {"written_fio.json", "written_nvbandwidth.json", "written_gbench.json",
                             "written_dcgm-diag.json", "written_hpcg.txt", "written_mlc.txt",
                             "written_likwid-bench.txt"}) {
        const auto run = run_of(file(name) + '\n' + file(name));
        EXPECT_EQ(run.cases.size(), imported(name).run.cases.size()) << name;
        EXPECT_THAT(run.cases[0].replicas, SizeIs(2)) << name;
    }
    const std::string node = "{\"node\": \"n1\", \"mem-bw/H2D_Mem_BW:0\": 24.5}\n";
    EXPECT_THAT(refusal(node + changed(node, "n1", "n2")), HasSubstr("split -l 1 it.txt node-"));
    EXPECT_EQ(run_of(node + node.substr(0, 20)).cases.size(), 1U) << "the last one is cut";
}

TEST(ImportFaults, RefusesFormsThatRoundWithTheOneToWriteInstead) {
    expect_rows({
        {"fio", "3;fio-3.36;r;0;0;5120000\n", {}, "--output-format=json"},
        {"gbench",
         "name,iterations,real_time,cpu_time,time_unit\n\"BM\",3,2.1,2.1,ns\n",
         {},
         "--benchmark_format=json"},
        {"llama-bench",
         "INSERT INTO test (build_commit, avg_ts) VALUES ('a', '1');\n",
         {},
         "-o json"},
        {"iperf3", "{\"event\":\"start\",\"data\":{\"test_start\":{}}}\n", {}, "iperf3 -J"},
        {"dcgm", "| Diagnostic      | Result   |\n| PCIe | Fail - GPU: 1 |\n", {}, "dcgmi diag -j"},
    });
}

} // namespace
} // namespace assay::imports
