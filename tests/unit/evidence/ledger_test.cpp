// SPDX-License-Identifier: Apache-2.0
//
// The ledger: a device that moves from a node to another, and lines that somebody changed, cut or took out.

#include "evidence/contents.hpp"
#include "evidence/derived.hpp"
#include "evidence/files.hpp"
#include "evidence/ledger.hpp"
#include "small.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace assay::report {
namespace {

using namespace evidence_test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LedgerEntry entry(const std::string& node, const std::string& day, const std::string& verdict,
                  const std::string& device) {
    return {.schema = "assay.ledger/1",
            .measured = "2026-" + day + "T12:00:00Z",
            .machine = "m-" + node,
            .host = node,
            .runs = {"run-" + node + day},
            .verdict = verdict,
            .causes = verdict == "PASS"
                          ? std::vector<LedgerCause>{}
                          : std::vector<LedgerCause>{{"gemm", "below_limit", "gemm.square"}},
            .parts = {{"board", "", "B-" + node, ""}, {"device", "0000:17:00.0", device, "GPU"}}};
}

class LedgerTest : public testing::Test {
protected:
    /// GPU-1 fails in node a, is swapped into b and fails there too; GPU-2 passes in a.
    void SetUp() override {
        ASSERT_EQ(add(entry("a", "01-10", "FAIL", "GPU-1")).before.size(), 0U);
        ASSERT_EQ(add(entry("b", "01-11", "PASS", "GPU-2")).before.size(), 0U);
        const auto swapped = add(entry("b", "01-20", "FAIL", "GPU-1"));
        ASSERT_EQ(swapped.before.size(), 1U);
        EXPECT_EQ(swapped.before.front().host, "a");
        ASSERT_EQ(add(entry("a", "01-21", "PASS", "GPU-2")).before.size(), 2U)
            << "a failed before, GPU-2 was in b";
    }
    AddedToLedger add(LedgerEntry one) const {
        auto done = add_to_ledger(file, {std::move(one)}, "2026-02-01T00:00:00Z");
        EXPECT_TRUE(done) << done.error().message;
        return done.value_or(AddedToLedger{});
    }
    std::vector<std::string> codes(std::string_view head = {}) const {
        std::vector<std::string> found;
        const auto ledger = read_ledger(file, head).value();
        for (const auto& finding : ledger.findings)
            found.push_back(fmt::format("{}:{}", finding.line, to_string(finding.code)));
        return found;
    }
    void replace(const std::string& from, const std::string& to) const {
        auto text = content(file);
        const auto at = text.find(from);
        ASSERT_NE(at, text.npos);
        folder.write("ledger.ndjson", text.replace(at, from.size(), to));
    }
    harness::testing::TemporaryFolder folder;
    fs::path file = folder.path() / "ledger.ndjson";
};

TEST_F(LedgerTest, FollowsAPartFromNodeToNode) {
    const auto ledger = read_ledger(file).value();
    EXPECT_THAT(ledger.findings, IsEmpty());
    const auto device = entries_about(ledger, "GPU-1");
    ASSERT_EQ(device.size(), 3U) << "and how a went on without it";
    EXPECT_EQ(device[0].host, "a");
    EXPECT_EQ(device[1].host, "b");
    const auto document = make_document(device, "GPU-1");
    EXPECT_THAT(document.verdict, HasSubstr("moved once"));
    const auto& table = std::get<document::Table>(document.sections.front().blocks.front());
    EXPECT_EQ(table.rows[1].cells[6].text, "from a");
    EXPECT_THAT(table.rows[1].cells[5].text, HasSubstr("below_limit gemm.square"));
    EXPECT_EQ(entries_about(ledger, "a").size(), 2U) << "by host, too";
    EXPECT_THAT(make_document(entries_about(ledger, "GPU-9"), "GPU-9").verdict,
                HasSubstr("never seen"));
    const auto all = make_document(entries_about(ledger, ""), "");
    const auto& parts = std::get<document::Table>(all.sections.front().blocks.front());
    EXPECT_EQ(parts.rows.size(), 4U);
    EXPECT_EQ(parts.rows[0].cells[0].text, "GPU-1") << "what did not pass most often comes first";
}

/// Failed in a, which was repaired and passed without it; failed again in b, where it was swapped to.
TEST_F(LedgerTest, ShowsWhatWasRepairedAndHowItWentThen) {
    auto repaired = entry("a", "01-22", "PASS", "GPU-2");
    repaired.repair = "GPU 0 replaced";
    add(repaired);
    auto again = entry("b", "01-30", "PASS", "GPU-1");
    again.repair = "riser reseated";
    add(again);
    const auto document = make_document(entries_about(read_ledger(file).value(), "GPU-1"), "GPU-1");
    const auto& table = std::get<document::Table>(document.sections.front().blocks.front());
    std::vector<std::string> chain;
    for (const auto& row : table.rows)
        chain.push_back(fmt::format("{}: {}|{}|{}", row.cells[1].text, row.cells[3].text,
                                    row.cells[4].text, row.cells[6].text));
    EXPECT_THAT(chain, ElementsAre("a: |FAIL|", "b: |FAIL|from a", "a: |PASS|no longer there",
                                   "b: riser reseated|PASS|"));
    EXPECT_THAT(document.verdict, HasSubstr("seen 3 times"));
    EXPECT_EQ(document.tone, document::Tone::good) << "the last of its nodes passed";
    const auto node = make_document(entries_about(read_ledger(file).value(), "a"), "a");
    const auto& rows = std::get<document::Table>(node.sections.front().blocks.front()).rows;
    EXPECT_EQ(rows.back().cells[3].text, "GPU 0 replaced");
}

TEST_F(LedgerTest, LinesObeyTheSchema) {
    auto repaired = entry("a", "01-22", "PASS", "GPU-2");
    repaired.repair = "GPU 0 replaced";
    add(repaired);

    const auto schema = json::read_file(layout().share / "schema" / "ledger.json").value();
    const auto ledger = read_ledger(file).value();
    for (const auto& one : ledger.entries) {
        const auto fits = json::check_schema(json::encode(one), schema, "line");
        EXPECT_TRUE(fits) << fits.error().message;
    }
}

TEST_F(LedgerTest, TheSameIsNotAddedTwice) {
    const auto again = add(entry("a", "01-21", "PASS", "GPU-2"));
    EXPECT_EQ(again.added, 0U);
    EXPECT_EQ(again.known, 1U);
    EXPECT_EQ(again.head, read_ledger(file)->head);
}

TEST_F(LedgerTest, ChangedLinesAreNamed) {
    replace("\"FAIL\"", "\"PASS\"");
    EXPECT_THAT(codes(), ElementsAre("1:changed"));
    const auto refused = add_to_ledger(file, {entry("c", "02-01", "PASS", "GPU-3")}, "now");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::benchmark);
}

TEST_F(LedgerTest, ALineOfWhichTheDigestWasMadeAgainBreaksTheChain) {
    auto text = content(file);
    const auto end = text.find('\n');
    auto line = json::parse(text.substr(0, end), "line").value();
    line["verdict"] = "PASS";
    // What an honest writer of that line would have written.
    auto honest = json::read<LedgerEntry>(line, "line").value();
    fs::remove(file);
    add(honest);
    folder.write("ledger.ndjson", content(file) + text.substr(end + 1));
    EXPECT_THAT(codes(), ElementsAre("2:out_of_chain"));
}

TEST_F(LedgerTest, LinesTakenOutPutInAndCutAreNamed) {
    const auto text = content(file);
    const auto head = read_ledger(file)->head;
    const auto first = text.find('\n') + 1;
    const auto last = text.rfind('\n', text.size() - 2) + 1;
    folder.write("ledger.ndjson", text.substr(first));
    EXPECT_THAT(codes(), testing::Contains("1:out_of_chain"));
    folder.write("ledger.ndjson", text.substr(0, first) + text);
    EXPECT_THAT(codes(), testing::Contains("2:out_of_chain"));
    folder.write("ledger.ndjson", text.substr(0, text.size() - 20));
    EXPECT_THAT(codes(), ElementsAre("4:half_a_line"));
    EXPECT_EQ(add(entry("c", "02-01", "PASS", "GPU-3")).added, 1U) << "half a line was never added";
    EXPECT_THAT(codes(), IsEmpty());
    // Whole lines gone from the end: only who knows a head can tell.
    folder.write("ledger.ndjson", text.substr(0, last));
    EXPECT_THAT(codes(), IsEmpty());
    EXPECT_THAT(codes(head), ElementsAre("0:no_such_head"));
    folder.write("ledger.ndjson", text);
    EXPECT_THAT(codes(head), IsEmpty());
    for (const char* hostile :
         {"[]\n", "{}\n", "\xff\xfe\n", "\n", "{\"schema\":1,\"schema\":1}\n"}) {
        folder.write("ledger.ndjson", hostile);
        EXPECT_THAT(codes(), ElementsAre("1:unreadable")) << hostile;
    }
}

TEST_F(LedgerTest, TakesNodesFromABundle) {
    auto run = small_run();
    run.tags = {{"repair", std::string{"DIMM B2 replaced"}}};
    run.machine.devices = {{.kind = "cuda",
                            .uuid = "MIG-1", // a slice is followed by its device
                            .whole_uuid = "GPU-1",
                            .pci_address = "0000:65:00.0",
                            .name = "G"}};
    Small small{run};
    small.options.redact = {"machine.hostname"};
    std::string limits = small_limits; // three replicas below it are too few to say so
    small.folder.write("small.json", limits.replace(limits.find("2e11"), 4, "9e11"));
    ASSERT_TRUE(small.make());
    const auto statement = read_statement(small.bundle()).value();
    const auto verdict =
        verdict_of_bundle(small.bundle(), statement.predicate.limits, statement.predicate.created);
    const auto entries = entries_of(verdict.value(), small.bundle());
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 1U);
    const auto& one = entries->front();
    EXPECT_EQ(one.host, "") << "hidden";
    EXPECT_EQ(one.repair, "DIMM B2 replaced");
    EXPECT_THAT(one.runs, ElementsAre("20260131T123456Z-4f2a"));
    ASSERT_EQ(one.parts.size(), 2U);
    EXPECT_EQ(one.parts[0].id, "GPU-1");
    EXPECT_EQ(one.parts[1].id, "SN-4711-0815");
    EXPECT_EQ(one.causes.front().cause, "too_few_replicas");
    EXPECT_EQ(add(one).before.size(), 2U) << "GPU-1 failed in a and in b";
}

} // namespace
} // namespace assay::report
