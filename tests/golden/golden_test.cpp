// SPDX-License-Identifier: Apache-2.0
//
// What reports and exports of one fixed run look like, byte by byte. A change on purpose is taken over by
// running this test with ASSAY_GOLDEN=write, and read in the diff.

#include "document/language.hpp"
#include "exchange/long_table.hpp"
#include "expect_golden.hpp"
#include "latin.hpp"
#include "report/document.hpp"
#include "report/json.hpp"
#include "report/report.hpp"
#include "sample.hpp"
#include "write/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace assay::report {
namespace {

using test::expect_golden;

Report report() {
    return make_report(test::golden_run(), {.label = "first look", .source = "run.json"});
}

std::vector<document::Document> document_of_report() { return {make_document(report())}; }

TEST(Golden, Terminal) { expect_golden("report.txt", write::to_terminal(document_of_report())); }

TEST(Golden, Json) {
    const Report one = report();
    test::expect_golden_json("report.json", to_json({&one, 1}));
}

/// The language is the program's: English again for whatever comes after.
class GoldenInChinese : public testing::Test {
protected:
    void SetUp() override { use_language(Language::zh); }
    void TearDown() override { use_language(Language::en); }
};

TEST_F(GoldenInChinese, NothingIsEnglish) {
    EXPECT_THAT(test::latin_sentences(document_of_report()), testing::IsEmpty());
}

TEST(Golden, Csv) {
    using report::TableFormat;
    auto run = test::golden_run();
    run.cases.resize(8);
    const report::FoundFile file{.path = "results/run.json"};
    expect_golden("export.csv", report::table_header(TableFormat::csv) +
                                    report::table_rows(run, file, TableFormat::csv));
}

} // namespace
} // namespace assay::report
