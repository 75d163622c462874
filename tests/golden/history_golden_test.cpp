// SPDX-License-Identifier: Apache-2.0
//
// What a history looks like, byte by byte: two instance types over two years, with a kernel, a library, a
// new processor and something nobody wrote down.

#include "document/language.hpp"
#include "expect_golden.hpp"
#include "history/document.hpp"
#include "history/history_data.hpp"
#include "latin.hpp"
#include "support/fleet.hpp"
#include "write/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace assay::report {
namespace {

/// Six machines of one type, each measured every month; eight of another, which live for a day.
Collection collection() {
    test::Fleet fleet;
    test::Gauss gauss{5};
    const auto gemm = fleet.series("gemm.square", "openblas", "flop_rate");
    const auto stream = fleet.series("memory.stream", "host", "bandwidth");
    const auto latency = fleet.series("memory.latency", "host", "latency");
    const auto measure = [&](const std::string& id, double when, double all, double memory,
                             double library) {
        fleet.run(id, test::day(when),
                  {{gemm, 1.05e11 * all * library * std::exp(0.004 * gauss())},
                   {stream, 3.6e10 * all * memory * std::exp(0.012 * gauss())},
                   {latency, 1.1e-7 / all / memory * std::exp(0.006 * gauss())}});
    };
    for (int month = 0; month < 24; ++month)
        for (int m = 0; m < 6; ++m) {
            fleet.machine.kernel = month < 9 ? "6.1.0-18" : "6.8.0-31";
            fleet.machine.software = {
                {"openblas.version", std::string{month < 15 + m % 2 ? "0.3.21" : "0.3.26"}}};
            const double apart = 1 + 0.006 * m;
            const double unknown = m == 4 && month >= 19 ? 0.955 : 1;
            measure("m-000" + std::to_string(m), 30.4 * month + m, apart * unknown,
                    month < 9 ? 1 : 0.93, month < 15 + m % 2 ? 1 : 1.08);
        }
    fleet.machine.instance = "c7i.large";
    fleet.machine.kernel = "6.1.0-18";
    fleet.machine.cpu_model = "Example Xeon 8488C";
    for (int m = 0; m < 16; ++m) {
        if (m == 8) fleet.machine.cpu_model = "Example Xeon 6985P";
        measure("m-1" + std::to_string(100 + m), 45.0 * m, m < 8 ? 0.9 : 1.15, 1, 1);
    }
    fleet.collection.problems.push_back(
        {"results/old/run.json", "not JSON (A string is opened, but never closed.)"});
    return std::move(fleet.collection);
}

History history() { return make_history(collection()).value(); }

std::vector<document::Document> documents() { return {make_document(history())}; }

TEST(GoldenHistory, Terminal) {
    test::expect_golden("history.txt", write::to_terminal(documents()));
}

TEST(GoldenHistory, InChineseNothingIsEnglish) {
    use_language(Language::zh);
    EXPECT_THAT(test::latin_sentences(documents()), testing::IsEmpty());
    use_language(Language::en);
    EXPECT_THAT(test::latin_sentences(documents()), testing::Not(testing::IsEmpty()));
}

TEST(GoldenHistory, Json) {
    auto short_one = make_history(collection(), {.points = 8}).value();
    test::expect_golden_json("history.json", to_json(short_one));
}

} // namespace
} // namespace assay::report
