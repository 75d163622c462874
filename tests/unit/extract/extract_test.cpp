// SPDX-License-Identifier: Apache-2.0
//
// Texts of other programs: cells and documents by their places, numbers, dates, units, and words of failure.

#include "extract/lines.hpp"
#include "extract/objects.hpp"
#include "extract/pattern.hpp"
#include "extract/said.hpp"
#include "extract/text.hpp"
#include "extract/times.hpp"
#include "extract/units.hpp"

#include <gmock/gmock.h>

namespace assay::extract {
namespace {

using testing::ElementsAre;

TEST(Extract, SplitsCellsAtTheirPlaces) {
    const std::string_view line = R"( "a, ""b""" ,, c ,"d")";
    const auto cells = cells_of(line);
    EXPECT_THAT(cells, ElementsAre(R"(a, ""b"")", "", "c", "d"));
    EXPECT_EQ(cells[2].data(), &line[line.find("c ,")]) << "a place in the line";
    EXPECT_EQ(unquoted(cells[0]), R"(a, "b")");
    EXPECT_THAT(cells_of("1;2,5;", ';'), ElementsAre("1", "2,5", ""));
    EXPECT_THAT(cells_of(""), ElementsAre(""));
    EXPECT_THAT(cells_of("\"open, 1"), ElementsAre("\"open, 1"));
}

TEST(Extract, ReadsLinesAsTheyStandAtTheEnd) {
    EXPECT_EQ(written_last("1%\r50%\r100%\r\r"), "100%");
    for (const auto* const text : {"0: a\n1: b\n0: c\n1: d\n",
                                   "\x1b[1m"
                                   "a\x1b[0m\n1%\rc\nb\nd\n",
                                   "12:00:00 a\n12:00:01 c\n12:00:02 b\n12:00:03 d\n"}) {
        std::string all;
        for (InputLines lines{text}; lines.next();) all += lines.content();
        EXPECT_EQ(all, "acbd") << text;
    }
}

TEST(Extract, FindsJsonWithinText) {
    const std::string_view text = "fio: [WARN] slow {clock}\n{\"a\": [1, \"}\"]}\nbye";
    const auto begin = json_begin(text);
    EXPECT_EQ(text.substr(begin, document_end(text, begin) - begin), "{\"a\": [1, \"}\"]}");
    EXPECT_EQ(json_begin("[info] none"), std::string_view::npos);
    EXPECT_EQ(document_end("{\"a\": ", 0), std::string_view::npos);
    EXPECT_EQ(repaired(R"({"nan": -nan, "b": [Infinity, 1]})"),
              R"({"nan": "nan", "b": ["nan", 1]})");
}

TEST(Extract, FindsPatternsAtTheirPlaces) {
    Pattern pattern;
    EXPECT_EQ(pattern.set("rate: (\\d+)|none"), "");
    EXPECT_EQ(pattern.value_in("rate: 17"), "17");
    EXPECT_EQ(pattern.value_in("none"), std::nullopt) << "an alternative without the group";
    EXPECT_EQ(pattern.value_in("a rate: 17"), std::nullopt);
    EXPECT_NE(pattern.set("(open"), "");
}

TEST(Extract, ReadsNumbersThatAreFiniteAndWhole) {
    EXPECT_EQ(number_of("1.5e-3"), 1.5e-3);
    for (const char* wrong : {"", "nan", "inf", "1.5x", " 1", "0x10", "1e999"})
        EXPECT_FALSE(number_of(wrong)) << wrong;
}

TEST(Extract, ReadsDates) {
    EXPECT_EQ(moment_of("2026-01-31T13:34:56+01:00")->utc, "2026-01-31T12:34:56Z");
    EXPECT_EQ(moment_of("2026-01-01T00:30:00+0100")->utc, "2025-12-31T23:30:00Z");
    EXPECT_EQ(moment_of("2026-01-31 12:34:56")->utc, "2026-01-31T12:34:56Z");
    EXPECT_FALSE(moment_of("2026-01-31 12:34:56")->has_zone);
    EXPECT_TRUE(moment_of("2026-01-31T12:34:56.789Z")->has_zone);
    EXPECT_EQ(moment_of("Sat Jan 31 12:34:56 2026")->utc, "2026-01-31T12:34:56Z");
    for (const char* wrong : {"", "2026-02-30", "2026-01-31T25:00:00Z", "2026-01-31x", "31.1.2026"})
        EXPECT_FALSE(moment_of(wrong)) << wrong;
}

TEST(Extract, KnowsUnits) {
    for (const auto& [text, base, factor] : {std::tuple{"ms", "s", 1e-3},
                                             {"s", "s", 1.0},
                                             {"MiB/s", "B/s", 1048576.0},
                                             {"Gbit/s", "B/s", 125e6},
                                             {"kB/s", "B/s", 1e3},
                                             {"KB/s", "B/s", 1e3},
                                             {"GFLOP/s", "FLOP/s", 1e9},
                                             {"Gupdates/s", "updates/s", 1e9},
                                             {"%", "1", 0.01},
                                             {"ns/day", "ns/day", 1.0}}) {
        const auto unit = unit_of(text);
        ASSERT_TRUE(unit) << text;
        EXPECT_EQ(unit->base, base) << text;
        EXPECT_DOUBLE_EQ(unit->factor, factor) << text;
    }
    for (const char* text : {"", "MB", "Ms", "mB/s", "MMB/s", "KB/", "day", "mbit/s"})
        EXPECT_FALSE(unit_of(text)) << text;
    EXPECT_EQ(unit_in("Best Rate MB/s")->factor, 1e6);
    EXPECT_EQ(bytes_of("16 MiB"), 16777216.0);
}

TEST(Extract, HearsThatDataAreWrong) {
    for (const char* line :
         {"verification failed at element 17",
          "ERROR: 3 values differ from what was written: wrong data",
          "DATA MISCOMPARE at offset 0x40", "Result: FAILED", "checksum mismatch in block 4",
          "Assertion `sum == expected' failed.", "memory corruption detected", "validation error",
          "The results do not match the reference", "solution is NOT correct", "verify: bad header",
          "compare failed at 3", "max error 1.2e+30 exceeds tolerance", "NaN detected in output",
          "Verification unsuccessful", "FAILED: correctness check"})
        EXPECT_TRUE(says_wrong(line)) << line;
    for (const char* line :
         {"0 errors", "Errors: 0", "no validation errors", "data check passed", "wrong values: 0",
          "NCCL INFO NET/Plugin: Failed to find ncclNetPlugin symbol", "failed to open data file",
          "Results are written to out.csv", "error correction is on", "100% of data moved",
          // Lines of programs that assay runs, when all is well.
          "Status: PASS - please verify no corrected errors", "Found 0 hardware incidents",
          "Data check: disabled", "WARNING: CPU frequencies differ, results are of 2400 MHz",
          "Lost 0 of 4321 datagrams", "Dangerous builds = 0", "Checking results: all passed",
          "verify: crc32c, continue_on_error=verify", "read errors: 0, write errors: 0",
          // No verdicts: a measure, a possibility, and words about speed.
          "Max error in solution: 1.2e-13", "Verification: max error 0.000e+00 PASSED",
          "validation error < 1e-6: OK", "data error rate 0.0%", "result code 0, invalid 0",
          "NUMA balancing may lead to wrong results", "values that differ from the default: 8"})
        EXPECT_FALSE(says_wrong(line)) << line;
    for (const char* line :
         {"srun: error: node7: task 3: Killed", "terminate called after throwing an instance",
          "MPI_ABORT was invoked on rank 0", "*** STEP 9.0 CANCELLED DUE TO TIME LIMIT ***"})
        EXPECT_TRUE(says_trouble(line)) << line;
}

} // namespace
} // namespace assay::extract
