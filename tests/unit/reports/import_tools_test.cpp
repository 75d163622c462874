// SPDX-License-Identifier: Apache-2.0
//
// The default texts of nvbandwidth, BabelStream, STREAM and OSU, and files that are damaged.

#include "decide/check.hpp"
#include "imports.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace assay::imports {
namespace {

using namespace testing;

TEST(ImportTools, NvbandwidthTextSaysWhatItsJsonSays) {
    const auto text = imported("written_nvbandwidth.txt");
    const auto json = imported("written_nvbandwidth.json");
    for (const char* name : {"host_to_device_memcpy_ce", "host_device_latency_sm",
                             "device_to_device_bidirectional_memcpy_read_ce"}) {
        const auto identity = fmt::format("nvbandwidth.{}[nvbandwidth]@cuda", name);
        const auto& a = only(text.run, identity);
        const auto& b = only(json.run, identity);
        ASSERT_EQ(a.metrics.size(), b.metrics.size());
        for (const auto& metric : a.metrics)
            EXPECT_DOUBLE_EQ(*metric.value, value(b, metric.name)) << name;
        EXPECT_EQ(a.tables.at(0).values, b.tables.at(0).values);
        EXPECT_EQ(a.tables.at(0).row_title, b.tables.at(0).row_title);
    }
    // (202 + 204) / 2: of three matrices the total.
    EXPECT_NEAR(value(text.run,
                      "nvbandwidth.device_to_device_bidirectional_memcpy_read_ce[nvbandwidth]@cuda",
                      "bandwidth"),
                203e9, 1);
    EXPECT_EQ(only(text.run, "nvbandwidth.all_to_one_write_ce[nvbandwidth]@cuda").reason,
              "nvbandwidth says Error: out of memory");
    EXPECT_THAT(text.not_understood,
                ElementsAre(Field(&NotUnderstood::reason, HasSubstr("lacks values"))));
    EXPECT_THAT(text.run.imported->notes, Contains(HasSubstr("tests were waived")));
    EXPECT_EQ(text.run.machine.id, json.run.machine.id) << "node7";
    EXPECT_EQ(record::text(text.run.machine.software, "cuda.runtime"), "12.8");
    EXPECT_EQ(text.run.imported->tool_version, "0.8");
}

TEST(ImportTools, NvbandwidthMatricesThatDoNotMakeTheirSumAreRefused) {
    const auto text = file("written_nvbandwidth.txt");
    EXPECT_THAT(unread(changed(text, "54.50", "5.450")),
                Contains(Field(&NotUnderstood::reason, HasSubstr("its cells add up to 60.95"))));
    EXPECT_THAT(unread(changed(text, "54.50", "54.x0")).at(0).text,
                HasSubstr("host_to_device_memcpy_ce"));
}

TEST(ImportTools, BabelStreamTextKeepsTheToolsOwnHeadlineBesideTheMean) {
    const auto import = imported("written_babelstream.txt");
    const auto& copy =
        only(import.run, "babelstream.copy[babelstream]@cuda elements=268435456 precision=fp64");
    EXPECT_EQ(copy.headline, "bandwidth");
    EXPECT_NEAR(value(copy, "bandwidth"), 2.0 * 8 * 268435456 / 0.00141, 1);
    EXPECT_NEAR(value(copy, "best_bandwidth"), 3067833.783e6, 1) << "as BabelStream prints it";
    EXPECT_NEAR(value(copy, "slowest_time"), 0.00142, 1e-12);
    EXPECT_EQ(copy.replicas[0].calls, 99U) << "the first time is left out by BabelStream";
    EXPECT_EQ(record::text(import.run.machine.software, "device"), "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(import.run.imported->tool_version, "5.0");
}

TEST(ImportTools, BabelStreamTimesOfOneDigitMakeNoMean) {
    const auto import = imported("written_babelstream-small.txt");
    const auto& copy =
        only(import.run, "babelstream.copy[babelstream]@hip elements=33554432 precision=fp32");
    EXPECT_EQ(copy.headline, "best_bandwidth");
    EXPECT_NEAR(value(copy, "best_bandwidth"), 3355443.2e6, 1);
    EXPECT_FALSE(has(copy, "bandwidth") || has(copy, "time"));
    EXPECT_THAT(import.run.imported->notes, Contains(HasSubstr("too few digits")));
}

TEST(ImportTools, BabelStreamOnAnotherPlaceOrWrong) {
    const auto text =
        changed(file("written_babelstream.txt"), "Implementation: CUDA", "Implementation: OpenMP");
    EXPECT_THAT(import_of(text).unknown, Contains("--place")) << "of the host, or of a device";
    EXPECT_EQ(run_of(text, "x", {.place = "host"}).cases[0].place.kind, "host");
    const std::string failed = "FAILED validation of a[3]: 0.1 (is) != 0.2 (should)\n";
    EXPECT_EQ(run_of(failed + text).cases[0].status, record::Status::incorrect)
        << "wherever it stands";
    for (const auto& c : run_of(changed(text, "Function", failed + "Function")).cases)
        EXPECT_EQ(c.status, record::Status::incorrect);
}

TEST(ImportTools, StreamKeepsItsBestRateBesideTheMean) {
    const auto import = imported("written_stream.txt");
    ASSERT_EQ(import.run.cases.size(), 4U);
    const auto& copy =
        only(import.run, "stream.copy[stream] elements=80000000 precision=fp64 threads=8");
    EXPECT_NEAR(value(copy, "best_bandwidth"), 40000e6, 1) << "2 * 8 B * 8e7 / 32 ms";
    EXPECT_NEAR(value(copy, "bandwidth"), 2.0 * 8 * 8e7 / 0.033, 1);
    const auto& triad =
        only(import.run, "stream.triad[stream] elements=80000000 precision=fp64 threads=8");
    EXPECT_NEAR(value(triad, "bandwidth"), 3.0 * 8 * 8e7 / 0.0461, 1);
    EXPECT_NEAR(value(triad, "fastest_time"), 0.0452, 1e-12);
    EXPECT_EQ(triad.replicas[0].calls, 9U);
    EXPECT_TRUE(triad.verification && triad.verification->passed);
    EXPECT_EQ(import.run.imported->tool_version, "5.10");
    EXPECT_EQ(triad.place.kind, "host");
}

TEST(ImportTools, StreamThatIsWrongOrCutOrRunTwice) {
    const auto text = file("written_stream.txt");
    const auto wrong = changed(text, "Solution Validates: avg error less than",
                               "Failed Validation on array a[], AvgRelAbsErr > epsilon");
    for (const auto& c : run_of(wrong).cases) EXPECT_EQ(c.status, record::Status::incorrect);
    EXPECT_EQ(run_of(text + text, "x").cases[0].replicas.size(), 2U);
    // The table alone: no elements, so no mean bandwidth is made up.
    const auto table = text.substr(text.find("Function"));
    const auto run = run_of(table, "x");
    ASSERT_EQ(run.cases.size(), 4U);
    EXPECT_EQ(run.cases[0].headline, "best_bandwidth");
    EXPECT_FALSE(has(run.cases[0], "bandwidth"));
    EXPECT_NEAR(value(run.cases[0], "time"), 0.033, 1e-12);
    EXPECT_THAT(unread(changed(text, "40000.0", "50000.0")),
                ElementsAre(Field(&NotUnderstood::reason, HasSubstr("does not match"))));
}

TEST(ImportTools, OsuSaysWhereItsBuffersAre) {
    const auto run = imported("written_osu-cuda.txt").run;
    EXPECT_NEAR(value(run, "osu.allreduce_latency[mpi]@cuda bytes=4 type=MPI_INT", "latency"),
                25.5e-6, 1e-12);
    EXPECT_NEAR(value(run, "osu.allreduce_latency[mpi]@cuda bytes=4", "latency"), 24.5e-6, 1e-12);
    EXPECT_NEAR(value(run, "osu.latency[mpi]@cuda bytes=8 buffers=device_host", "latency"), 3.25e-6,
                1e-12);
    EXPECT_NEAR(value(run, "osu.bandwidth[mpi] bytes=1048576", "bandwidth"), 12000.5e6, 1);
    EXPECT_NEAR(value(run,
                      "osu.put_bandwidth[mpi]@hip bytes=1048576 window=MPI_Win_allocate "
                      "synchronization=MPI_Win_flush",
                      "bandwidth"),
                21000.25e6, 1);
    EXPECT_NEAR(value(run, "osu.non_blocking_allreduce_latency[mpi]@cuda bytes=1024", "latency"),
                60.5e-6, 1e-12);
}

TEST(ImportTools, HostsAndThreadsThatOnlySomeVariantsName) {
    const auto threads = run_of("# OSU MPI Multi-threaded Latency Test v7.4\n"
                                "# Number of Sender threads: 1\n# Number of Receiver threads: 2\n"
                                "# Size          Latency (us)\n8   1.5\n",
                                "x");
    EXPECT_EQ(
        record::identity(threads.cases.at(0)),
        "external.osu.multi_threaded_latency[mpi] bytes=8 sender_threads=1 receiver_threads=2");
    const auto one = changed(file("written_nvbandwidth.txt"), "node7\nDevice 0: NVIDIA H100",
                             "Process 0 (node7): device 0: NVIDIA H100");
    const auto two = run_of(changed(one, "Device 1:", "Process 1 (node8): device 0:"));
    EXPECT_NE(two.machine.id, imported("written_nvbandwidth.txt").run.machine.id);
    EXPECT_EQ(record::text(two.machine.software, "device"), "NVIDIA H100 80GB HBM3");
}

TEST(ImportTools, WhatARealGoogleBenchmarkWrote) {
    const auto import = imported("recorded_gbench.json");
    ASSERT_EQ(import.run.cases.size(), 1U);
    const auto& c = import.run.cases[0];
    EXPECT_NEAR(value(c, "time"), 3474.5888900215505e-9, 1e-15);
    EXPECT_NEAR(value(c, "bandwidth"), 9.1922389585354824e9, 1);
    EXPECT_EQ(c.replicas[0].calls, 100000U);
    EXPECT_TRUE(import.not_understood.empty());
}

TEST(ImportTools, WhatIsNoTextIsRefusedInOneMessage) {
    const auto text = file("written_osu-cuda.txt");
    auto damaged = text;
    damaged[damaged.find("25.50")] = '\0';
    EXPECT_THAT(refusal(damaged), HasSubstr("it.txt: line 5: zero byte"));
    EXPECT_THAT(refusal("\xff\xfe#"), HasSubstr("is UTF-16"));
    EXPECT_THAT(refusal("\xef\xbb\xbf \n"), HasSubstr("is empty"));
    EXPECT_EQ(run_of("\xef\xbb\xbf" + text, "x").cases.size(), 6U);
    EXPECT_THAT(refusal("# OSU MPI Latency Test v7.4\n# Size Latency (us)\n"),
                HasSubstr("column \"Size Latency (us)\""));
}

TEST(ImportTools, ControlCharactersNameNothing) {
    const auto text = "# OSU MPI Latency Test v7.4\n# Datatype: MPI_\x07INT.\n"
                      "# Size       Avg Latency(us)\n8   1.5\n";
    EXPECT_THAT(refusal(text), HasSubstr("line 4: contains control characters"));
    EXPECT_THAT(refusal(std::string{"mpirun: hello\n"} + text), HasSubstr("line 5: contains"))
        << "not what stands in front";
}

TEST(ImportTools, ALineOfMegabytesIsNoResult) {
    const std::string_view title = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n";
    std::string text{title};
    for (int i = 0; i < 1'000'000; ++i) text += "8 ";
    text += "\n8   1.5\n";
    const auto import = import_of(text);
    EXPECT_EQ(import.run.cases.size(), 1U);
    ASSERT_EQ(import.not_understood.size(), 1U);
    EXPECT_EQ(import.not_understood[0].where, "line 3");
    EXPECT_LT(import.not_understood[0].text.size(), 200U);
}

} // namespace
} // namespace assay::imports
