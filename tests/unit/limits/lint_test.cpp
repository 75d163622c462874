// SPDX-License-Identifier: Apache-2.0
//
// Files of limits with slips that were published, and what lint has to say of each.

#include "base/utc.hpp"
#include "document/language.hpp"
#include "json/json.hpp"
#include "judge/effective.hpp"
#include "judge/lint.hpp"
#include "support/collection_maker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace assay::report {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

const fs::path corpus{ASSAY_LIMITS};
const double today = *seconds_of("2026-11-23");

const datasheet::Hardware& hardware() {
    static const auto read = datasheet::read_hardware().value();
    return read;
}

std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream{path, std::ios::binary}.rdbuf();
    return text.str();
}

std::vector<document::LintRow> lint_text(const std::string& text,
                                         const Collection* runs = nullptr) {
    auto read = parse_limits(text, "x.json");
    if (!read) return lint_unreadable("x.json", text, read.error().message);
    return lint({{.file = "x.json", .limits = std::move(*read)}},
                {.now = today, .hardware = &hardware(), .runs = runs});
}

std::vector<std::string> codes_of(const std::vector<document::LintRow>& findings) {
    std::vector<std::string> codes;
    for (const auto& one : findings) codes.push_back(fmt::format("{} {}", one.about, one.code));
    return codes;
}

/// By file: every finding, and no others.
const std::map<std::string, std::vector<std::string>> expected{
    {"aicr-other-chip", {"gb300-nccl other_chip"}},
    {"aicr-stacked", {"gb200-gate stacked", "gb200-share-gate stacked"}},
    {"amd-acceptance",
     {"mi300x-gemm-bf16 precision_differs", "mi300x-gemm-bf16 below_half",
      "mi300x-gemm-seen below_half", "mi300x-peer reached_by_all"}},
    {"autopilot-pcie",
     {"pcie-document above_peak", "pcie-gate below_half", "pcie-gate neighbours_differ"}},
    {"aws-nccl",
     {"p4d.24xlarge above_peak", "p5.48xlarge above_peak", "p5en.48xlarge above_peak",
      "p6-b200.48xlarge above_peak"}},
    {"azure-drift", {"conf-nccl gates_differ", "conf-gdr gates_differ", "conf-h2d gates_differ"}},
    {"azure-gemm", {"h100-gemm unit_slip"}},
    {"clean", {}},
    {"dcgm-memory",
     {"h200-2335 unit_slip", "h200-2335 odd_share", "h200-233b below_half", "ga100-20b0 below_half",
      "ga100-20b0 odd_share", "a800-sxm4 odd_share", "a800-sxm4 matches_nothing",
      "l40-26b5 neighbours_differ", "l40-26b5 matches_nothing", "l40-26b8 matches_nothing"}},
    {"gcp-two-gates", {"slurm-a3 gates_differ"}},
    {"no-unit", {"nccl unit_missing"}},
    {"nvsentinel-one-for-all",
     {"fabric-335 below_half", "fabric-617 below_half", "fabric-328 below_half"}},
    {"out-of-date",
     {" waiver_expired", "old expired", "no-such-chip matches_nothing",
      "no-such-benchmark matches_nothing", "over-all above_peak"}},
};

TEST(Lint, CatchesEverySlipThatWasPublishedAndNothingElse) {
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator{corpus}) {
        const auto name = entry.path().stem().string();
        ASSERT_TRUE(expected.contains(name)) << name;
        EXPECT_THAT(codes_of(lint_text(content(entry.path()))),
                    UnorderedElementsAreArray(expected.at(name)))
            << name;
        ++files;
    }
    EXPECT_EQ(files, expected.size());
}

TEST(Lint, FindsNothingInTheLimitsThatAreShipped) {
    const auto path = find_limits("spec");
    ASSERT_TRUE(path) << path.error().message;
    EXPECT_THAT(codes_of(lint_text(content(*path))), IsEmpty());
}

TEST(Lint, SaysWhatIsWrongAndWhatWouldBeRightInBothLanguages) {
    const auto text = content(corpus / "azure-gemm.json");
    const auto english = lint_text(text);
    ASSERT_THAT(english, testing::SizeIs(1));
    EXPECT_EQ(english[0].severity, document::Severity::serious);
    EXPECT_THAT(english[0].what,
                testing::AllOf(HasSubstr("769 GFLOP/s"), HasSubstr("1000"),
                               HasSubstr("NVIDIA H100 SXM5 80GB"), HasSubstr("989 TFLOP/s")));
    EXPECT_EQ(english[0].instead, "Probably 769 TFLOP/s.");
    use_language(Language::zh);
    const auto chinese = lint_text(text);
    use_language(Language::en);
    EXPECT_THAT(chinese[0].what, HasSubstr("峰值"));
}

TEST(Lint, KnowsTheNetworkBoundOfAnAllReduce) {
    // 2 nodes of 8: 400 GB/s 2 / 1 15 / 16.
    EXPECT_DOUBLE_EQ(bus_bandwidth_between(400e9, 2, 16), 750e9);
    EXPECT_LT(bus_bandwidth_between(400e9, 4, 32), 750e9);
    const auto found = lint_text(content(corpus / "aws-nccl.json"));
    EXPECT_THAT(found[1].what, HasSubstr("750 GB/s"));
}

std::string file_with(const std::string& limit, const std::string& more = "") {
    return R"({"schema": "assay.limits/1", "name": "x", "limits": [{"id": "a", "kind": "spec", "source": "s", )" +
           limit + "}]" + more + "}";
}

/// The codes of one limit with this case, machine and bound, as a text without the limit's id.
std::string found_in(const std::string& benchmark, const std::string& bound,
                     const std::string& unit, const std::string& machine = "{}",
                     const std::string& more = "") {
    std::string text;
    for (const auto& one : lint_text(file_with(fmt::format(
             R"("case": {{"benchmark": "{}"{}}}, "machine": {}, {}, {})", benchmark, more, machine,
             bound,
             unit.starts_with('"') ? "\"share_of\": " + unit : "\"unit\": \"" + unit + '"'))))
        text += std::string{text.empty() ? "" : " "} + std::string{one.code};
    return text;
}

TEST(Lint, KnowsPeaksOfHostsLinksAndNetworks) {
    const std::string host = R"(, "place": "host")";
    const std::string epyc = R"({"cpu": "AMD EPYC 9R14*"})";
    EXPECT_EQ(found_in("memory.stream", R"("at_least": 6.5e8)", "B/s", epyc, host), "unit_slip");
    EXPECT_EQ(found_in("memory.stream", R"("at_least": 2e12)", "B/s", epyc, host), "above_peak");
    EXPECT_EQ(found_in("memory.stream", R"("at_least": 3e11)", "B/s", epyc, host), "");
    EXPECT_EQ(found_in("memory.stream", R"("at_least": 2e12)", "B/s", epyc,
                       host + R"(, "footprint": 1048576)"),
              ""); // in the caches
    EXPECT_EQ(found_in("peak.fma", R"("at_least": 9e18)", "FLOP/s", epyc, host), "above_peak");
    EXPECT_EQ(found_in("peak.fma", R"("at_least": 3e12)", "FLOP/s", epyc, host), "");
    const std::string board = R"({"device": "NVIDIA H200"})";
    EXPECT_EQ(found_in("transfer.peer", R"("at_least": 4e8)", "B/s", board), "unit_slip");
    EXPECT_EQ(found_in("transfer.peer", R"("at_least": 4e11)", "B/s", board), "");
    EXPECT_EQ(found_in("network.put", R"("at_least": 5e16)", "B/s"), "above_peak");
    EXPECT_EQ(found_in("network.put", R"("at_least": 4.5e10)", "B/s"), "");
    // Without a chip or a precision whatever is faster than all that are known, by generations.
    EXPECT_EQ(found_in("gemm.square", R"("at_least": 7e17)", "FLOP/s"), "above_peak");
    EXPECT_EQ(found_in("gemm.square", R"("at_least": 7e17)", "FLOP/s", R"({"pci": "10de:2335"})"),
              "above_peak");
    EXPECT_EQ(found_in("gemm.square", R"("at_least": 2e16)", "FLOP/s"), "");
    EXPECT_EQ(found_in("gemm.square", R"("at_least": 1e17)", "FLOP/s", board), "above_peak");
    // A chip that no data sheet has may do anything.
    EXPECT_EQ(found_in("memory.stream", R"("at_least": 1e15)", "B/s", R"({"cpu": "New CPU"})"), "");
}

TEST(Lint, KnowsWhatEveryLatencyIsBelow) {
    EXPECT_EQ(found_in("memory.latency", R"("at_most": 1.3e-3)", "s"), "reached_by_all");
    EXPECT_EQ(found_in("memory.latency", R"("at_most": 1.3e-6)", "s"), "");
    EXPECT_EQ(found_in("latency.kernel", R"("at_most": 2e-3)", "s"), "reached_by_all");
    EXPECT_EQ(found_in("latency.kernel", R"("at_most": 2e-5)", "s"), "");
    EXPECT_EQ(found_in("network.ping_pong", R"("at_most": 1.0)", "s"), "reached_by_all");
}

TEST(Lint, NotAllSiblingsCanBeAboveTheirMedian) {
    EXPECT_EQ(found_in("gemm.square", R"("at_least": 1.5)", R"("siblings")"), "above_peak");
    EXPECT_EQ(found_in("gemm.square", R"("at_least": 0.95)", R"("siblings")"), "");
    EXPECT_EQ(found_in("latency.kernel", R"("at_most": 0.9)", R"("siblings")"), "above_peak");
    EXPECT_EQ(found_in("latency.kernel", R"("at_most": 1.1)", R"("siblings")"), "");
}

TEST(Lint, NamesTheNearestTypeOfInstance) {
    const auto misspelt = lint_text(file_with(
        R"("case": {"benchmark": "gemm.square"}, "machine": {"instance": "p5.48xlarg"}, "unit": "FLOP/s", "at_least": 1e12)"));
    ASSERT_EQ(misspelt.size(), 1U);
    EXPECT_EQ(misspelt[0].code, "matches_nothing");
    EXPECT_THAT(misspelt[0].instead, HasSubstr("p5.48xlarge"));
    EXPECT_EQ(found_in("gemm.square", R"("at_least": 1e12)", "FLOP/s",
                       R"({"instance": "p5.*|our-own-node"})"),
              "");
}

TEST(Lint, NamesTheNearestDeviceAndBenchmark) {
    const auto device = lint_text(file_with(
        R"("machine": {"device": "NVIDA H200"}, "case": {"benchmark": "memory.stream"}, "unit": "B/s", "at_least": 4e12)"));
    ASSERT_THAT(codes_of(device), ElementsAre("a matches_nothing"));
    EXPECT_THAT(device[0].instead, HasSubstr("Probably \"NVIDIA H200\""));
    EXPECT_EQ(device[0].severity, document::Severity::caution);
    const auto benchmark = lint_text(
        file_with(R"("case": {"benchmark": "memory.steam"}, "unit": "B/s", "at_least": 4e12)"));
    ASSERT_THAT(codes_of(benchmark), ElementsAre("a matches_nothing"));
    EXPECT_THAT(benchmark[0].instead, HasSubstr("\"memory.stream\""));
}

TEST(Lint, LooksForMachinesAndCasesInTheRunsThatAreGiven) {
    test::CollectionMaker maker;
    auto series = test::triad();
    series.benchmark = "mine.own";
    maker.observe(maker.run({.instance = "c7a.large"}), series, {1e11});
    const auto text = file_with(
        R"("machine": {"instance": "c7a.*"}, "case": {"benchmark": "mine.own"}, "unit": "B/s", "at_least": 1e11)");
    EXPECT_THAT(codes_of(lint_text(text)), ElementsAre("a matches_nothing"));
    EXPECT_THAT(codes_of(lint_text(text, &maker.collection())), IsEmpty());
    const auto other = file_with(
        R"("machine": {"instance": "c6a.*"}, "case": {"benchmark": "mine.own"}, "unit": "B/s", "at_least": 1e11)");
    EXPECT_THAT(codes_of(lint_text(other, &maker.collection())), ElementsAre("a matches_nothing"));
}

TEST(Lint, HoldsToTheLastDay) {
    const auto until = [](const std::string& day) {
        return file_with(
            R"("case": {"benchmark": "memory.stream"}, "unit": "B/s", "at_least": 4e12, "expires": ")" +
            day + "\"");
    };
    EXPECT_THAT(codes_of(lint_text(until("2026-11-23"))), IsEmpty());
    EXPECT_THAT(codes_of(lint_text(until("2026-11-22"))), ElementsAre("a expired"));
    const auto whole = lint_text(
        file_with(R"("case": {"benchmark": "memory.stream"}, "unit": "B/s", "at_least": 4e12)",
                  R"(, "expires": "2026-11-22")"));
    EXPECT_THAT(codes_of(whole), ElementsAre(" expired")) << "once for the file";
}

TEST(Lint, SurvivesWhatIsNoFileOfLimits) {
    for (const char* text : {"", "{", "[]", "7", R"({"limits": [7, {"id": 7}, {"id": "x"}]})",
                             R"({"schema": "assay.limits/1", "name": "x", "limits": "all"})"}) {
        const auto found = lint_text(text);
        ASSERT_THAT(found, testing::Not(IsEmpty())) << text;
        EXPECT_EQ(found[0].severity, document::Severity::serious);
    }
}

TEST(Lint, IsADocumentAndData) {
    const auto found = lint_text(content(corpus / "azure-gemm.json"));
    const auto document = make_document(found, {"x.json"}, 2);
    EXPECT_EQ(document.tone, document::Tone::bad);
    EXPECT_THAT(document.verdict, HasSubstr("1 finding, 1 serious"));
    const auto value = json::parse(to_json(found, {"x.json"}, 2), "json");
    ASSERT_TRUE(value);
    EXPECT_EQ((*value)["findings"][0]["code"], "unit_slip");
    EXPECT_EQ((*value)["serious"], 1);
    EXPECT_EQ(make_document({}, {"x.json"}, 2).tone, document::Tone::good);
}

TEST(Effective, ShowsWhatIsInForceOnAMachine) {
    const auto parse = [](const std::string& file, const std::string& limits) {
        return *parse_limits(R"({"schema": "assay.limits/1", "name": ")" + file +
                                 R"(", "limits": [)" + limits + "]}",
                             file);
    };
    const std::string rest = R"("kind": "spec", "source": "s", )";
    auto limits = layered(
        {parse(
             "low",
             R"({"id": "triad", )" + rest +
                 R"("case": {"benchmark": "memory.stream"}, "unit": "B/s", "at_least": 1e10},
                          {"id": "other", )" +
                 rest +
                 R"("machine": {"instance": "c6a.*"}, "case": {"benchmark": "memory.stream"}, "unit": "B/s", "at_least": 1e10})"),
         parse(
             "high",
             R"({"id": "triad", )" + rest +
                 R"("case": {"benchmark": "memory.stream"}, "unit": "B/s", "at_least": 2e10, "expires": "2026-11-01"},
                           {"id": "share", )" +
                 rest +
                 R"("case": {"benchmark": "memory.stream"}, "share_of": "datasheet", "at_least": 0.5},
                           {"id": "less", )" +
                 rest +
                 R"("case": {"benchmark": "memory.stream"}, "share_of": "limit:share", "at_least": 0.5})")});
    ASSERT_TRUE(limits);
    EXPECT_EQ(effective(*limits, nullptr, today)->limits.size(), 4U);
    test::CollectionMaker maker;
    maker.observe(maker.run({}), test::triad(), {3e10}).datasheet = 4e10;
    const auto found = effective(*limits, &maker.collection(), today);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->limits.size(), 3U);
    EXPECT_EQ(found->limits[0].replaced, "low");
    EXPECT_TRUE(found->limits[0].expired);
    EXPECT_EQ(found->limits[1].low, 2e10);
    EXPECT_EQ(found->limits[2].high, 1e10);
    EXPECT_EQ(make_document(*found).sections[0].title, "Limits");
    maker.run({.machine = "m-2"});
    EXPECT_FALSE(effective(*limits, &maker.collection(), today)) << "one machine at a time";
}

} // namespace
} // namespace assay::report
