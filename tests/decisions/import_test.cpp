// SPDX-License-Identifier: Apache-2.0
//
// Rows about outputs of other tools: imported, then compared. A tool's verdict on its own data decides, wherever it
// stands.

#include "cli/program.hpp"
#include "verdict.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;

/// STREAM at twice the rate with half the times, or not.
std::string stream(bool is_fast, const std::string& end = "Solution Validates\n",
                   const std::string& title = "Best Rate MB/s") {
    const std::string head = "This system uses 8 bytes per array element.\n"
                             "Array size = 80000000 (elements)\nNumber of Threads counted = 8\n"
                             "Function    " +
                             title + "  Avg time     Min time     Max time\n";
    return head +
           (is_fast ? "Copy:  80000.0  0.0160000  0.0160000  0.0160000\n"
                    : "Copy:  40000.0  0.0320000  0.0320000  0.0320000\n") +
           end;
}
std::string fio(const char* rate, const char* error) {
    return std::string{R"({"fio version": "fio-3.36", "jobs": [{"jobname": "a", "error": )"} +
           error + R"(, "read": {"io_bytes": 409600000, "bw_bytes": )" + rate + "}}]}\n";
}
std::string iperf(const char* lost) {
    return std::string{
               R"({"start": {"version": "iperf 3.12", "test_start": {"protocol": "UDP", "num_streams": 1}},
        "intervals": [], "end": {"sum": {"bits_per_second": 8e9, "lost_percent": )"} +
           lost + "}}}\n";
}
std::string serving(const char* completed) {
    return std::string{R"({"request_throughput": 8.0, "output_throughput": 1000.0, "duration": 25.0,
        "total_output_tokens": 25000, "model_id": "m", "num_prompts": 200, "completed": )"} +
           completed + "}\n";
}

std::string thrice(const std::string& text) { return text + text + text; }

struct Situation {
    const char* name;
    std::string a;
    std::string b;
    int imported;     ///< exit code of the second
    const char* said; ///< outcome of the second side
};
const std::vector<Situation> situations{
    {"the second is faster", thrice(stream(false)), thrice(stream(true)), 0, "better"},
    {"validation failed behind the table", stream(false),
     stream(true, "Failed Validation on array a[]\n"), 0, "missing"},
    {"validation failed on stderr, in front", stream(false),
     "stream: data mismatch at 17\n" + stream(true, ""), 0, "missing"},
    {"the second of two runs was wrong", stream(false),
     stream(true) + stream(true, "Failed Validation on array b[]\n"), 0, "missing"},
    {"a unit that is another", stream(false), stream(true, "Solution Validates\n", "Rate MiB/s"), 2,
     ""},
    {"an error of the job", fio("80000000", "0"), fio("160000000", "5"), 2, ""},
    {"a part of the requests", serving("200"), serving("100"), 2, ""},
    {"datagrams that did not arrive", iperf("0"), iperf("50.0"), 0, "missing"},
};

/// Outcome of the second side, of the only row that has one.
std::string outcome(const json::Value& document) {
    std::string said;
    for (const auto& table : document.at("tables"))
        for (const auto& row : table.at("rows"))
            if (const auto& cells = row.at("cells"); cells.size() > 1)
                if (const auto& text = cells.at(1).at("contrast").at("outcome"); text.is_string())
                    said = text.get<std::string>();
    return said;
}

TEST(Imports, WhatAToolCallsWrongIsNoSideOfAComparison) {
    for (const auto& row : situations) {
        SCOPED_TRACE(row.name);
        const Folder folder;
        const auto import = [&](const std::string& side, const std::string& text) {
            const auto file = folder.write(side + ".txt", text);
            return ask({"import", file, "--out", folder.path() / side, "--label", side, "--started",
                        "2026-01-31T12:00:00Z"})
                .code;
        };
        ASSERT_EQ(import("a", row.a), 0);
        ASSERT_EQ(import("b", row.b), row.imported);
        if (row.imported != 0) continue;
        const auto answer = ask({"compare", folder.path() / "a", folder.path() / "b", "--json"});
        EXPECT_EQ(outcome(answer.json), row.said) << answer.error;
    }
}

} // namespace
} // namespace assay::decisions
