// SPDX-License-Identifier: Apache-2.0
//
// Files of limits with slips that were published and what lint has to say of each; limits that are derived from a fleet.

#include "fleet/derive.hpp"
#include "json/json.hpp"
#include "judge/effective.hpp"
#include "judge/judge.hpp"
#include "judge/lint.hpp"
#include "support/collection_maker.hpp"
#include "support/document.hpp"
#include "support/results.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

namespace assay::judge {
namespace {

namespace fs = std::filesystem;
using namespace testing;

const fs::path corpus{ASSAY_LIMITS};
const double today = *seconds_of("2026-11-23");

const reference::Hardware& hardware() {
    static const auto read = reference::read_hardware().value();
    return read;
}

std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream{path, std::ios::binary}.rdbuf();
    return text.str();
}

std::vector<document::LintRow> lint_text(const std::string& text,
                                         const store::Collection* runs = nullptr) {
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
     {" waiver_expired", " waiver_long", "old expired", "no-such-chip matches_nothing",
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
    const auto path = must(find_limits("spec"));
    EXPECT_THAT(codes_of(lint_text(content(path))), IsEmpty());
}

TEST(Lint, SaysWhatIsWrongAndWhatWouldBeRightInBothLanguages) {
    const auto text = content(corpus / "azure-gemm.json");
    const auto english = lint_text(text);
    ASSERT_THAT(english, SizeIs(1));
    EXPECT_EQ(english[0].severity, document::Severity::serious);
    EXPECT_THAT(english[0].what,
                AllOf(HasSubstr("769 GFLOP/s"), HasSubstr("1000"),
                      HasSubstr("NVIDIA H100 SXM5 80GB"), HasSubstr("989 TFLOP/s")));
    EXPECT_EQ(english[0].instead, "Probably 769 TFLOP/s.");
    const test::Speaking chinese{document::Language::zh};
    EXPECT_THAT(lint_text(text)[0].what, HasSubstr("峰值"));
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
    EXPECT_EQ(found_in("peak.fma", R"("at_least": 9e10)", "FLOP/s", epyc, host), ""); // of one core
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
    EXPECT_THAT(codes_of(lint_text(other, &maker.collection())), ElementsAre(" matches_nothing"));
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
        ASSERT_THAT(found, Not(IsEmpty())) << text;
        EXPECT_EQ(found[0].severity, document::Severity::serious);
    }
}

TEST(Lint, IsADocumentAndData) {
    const auto found = lint_text(content(corpus / "azure-gemm.json"));
    const auto document = make_document(found, {"x.json"}, 2);
    EXPECT_EQ(document.tone, document::Tone::bad);
    EXPECT_THAT(document.verdict, HasSubstr("1 finding, 1 serious"));
    const auto value = json::parse(to_json(found, {"x.json"}, 2), "json").value();
    EXPECT_EQ(value["findings"][0]["code"], "unit_slip");
    EXPECT_EQ(value["serious"], 1);
    EXPECT_EQ(make_document({}, {"x.json"}, 2).tone, document::Tone::good);
}

TEST(Effective, ShowsWhatIsInForceOnAMachine) {
    const auto of = [](const char* id, const char* file, double at_least, const char* share_of) {
        return Limit{.id = id,
                     .cases = {{"benchmark", "memory.stream"}},
                     .unit = *share_of == '\0' ? "B/s" : "",
                     .at_least = at_least,
                     .share_of = share_of,
                     .source = "s",
                     .file = file};
    };
    auto other = of("other", "low", 1e10, "");
    other.machine = {{"instance", "c6a.*"}};
    auto triad = of("triad", "high", 2e10, "");
    triad.expires = "2026-11-01";
    const auto limits = layered({{.limits = {of("triad", "low", 1e10, ""), other}},
                                 {.limits = {triad, of("share", "high", 0.5, "datasheet"),
                                             of("less", "high", 0.5, "limit:share")}}});
    ASSERT_TRUE(limits);
    EXPECT_EQ(effective(*limits, {}, today)->limits.size(), 4U);
    test::CollectionMaker maker;
    auto& seen = maker.observe(maker.run({}), test::triad(), {3e10, 3e10, 3e10, 3e10, 3e10});
    seen.datasheet = 4e10;
    seen.events = 0; // telemetry saw nothing
    seen.verified = true;
    const auto found = must(effective(*limits, maker.collection(), today));
    ASSERT_EQ(found.limits.size(), 3U);
    EXPECT_EQ(found.limits[0].replaced, "low");
    EXPECT_TRUE(found.limits[0].expired);
    std::vector<double> bounds;
    for (const auto* check : closest_first(found)) bounds.push_back(check->bound.value_or(0));
    EXPECT_THAT(bounds, ElementsAre(2e10, 1e10, 0)) << "the closest first, what expired last";
    EXPECT_EQ(make_document(found).sections[0].title, "Limits");
    maker.run({.machine = "m-2"});
    EXPECT_FALSE(effective(*limits, maker.collection(), today)) << "one machine at a time";
}

const double now = *seconds_of("2026-11-23");

/// Nodes of one type with three runs of five replicas; `slow` of them at 80% in GEMM.
class Nodes {
public:
    explicit Nodes(int nodes, int slow = 0, std::uint64_t seed = 1) : random_{seed} {
        for (int node = 0; node < nodes; ++node) add(fmt::format("m-{}", node), node < slow);
    }
    void add(const std::string& machine, bool slow = false) {
        const double gemm = 1e11 * (slow ? 0.8 : 1) * noise(0.004);
        const double wait = 90e-9 * noise(0.01);
        for (int run = 0; run < 3; ++run) {
            const auto made = maker_.run(
                {.machine = machine, .started = fmt::format("2026-11-0{}T12:00:00Z", run + 1)});
            observe(made, test::gemm("openblas", 1024), gemm * noise(0.003), 0.005);
            observe(made, test::latency(1 << 30), wait * noise(0.003), 0.01);
        }
    }
    store::Collection& collection() { return maker_.collection(); }

private:
    double noise(double deviation) { return std::exp(deviation * law_(random_)); }
    void observe(std::uint32_t run, const decide::Series& series, double level, double deviation) {
        std::vector<double> replicas(5);
        for (double& value : replicas) value = level * noise(deviation);
        auto& seen = maker_.observe(run, series, replicas);
        seen.events = 0; // telemetry saw nothing
        seen.verified = true;
    }
    std::mt19937_64 random_;
    std::normal_distribution<> law_;
    test::CollectionMaker maker_;
};

fleet::DeriveOptions options() {
    return {.name = "fleet", .author = "operations", .valid_days = 180, .now = now};
}

TEST(Derive, TakesABoundFromTheGoodNodes) {
    Nodes nodes{40, 1};
    const auto derived = must(derive(nodes.collection(), options()));
    ASSERT_EQ(derived.limits.size(), 2U);
    const auto& gemm = derived.limits[0].limit;
    EXPECT_EQ(gemm.cases.at("benchmark"), "gemm.square");
    EXPECT_EQ(gemm.cases.at("size"), "1024");
    EXPECT_EQ(gemm.machine.at("instance"), "c7a.large");
    EXPECT_EQ(gemm.samples, 40U);
    EXPECT_NEAR(*gemm.center / 1e11, 1, 0.005);
    EXPECT_LT(*gemm.at_least, *gemm.center * 0.99);
    EXPECT_GT(*gemm.at_least, *gemm.center * 0.95) << "the slow node widens nothing";
    EXPECT_FALSE(gemm.at_most);
    EXPECT_NEAR(*gemm.spread->replica, 0.005, 0.001);
    EXPECT_NEAR(*gemm.spread->node, 0.004, 0.002);
    EXPECT_NEAR(*gemm.spread->run, 0.003, 0.001);
    EXPECT_FALSE(gemm.spread->device) << "there is one";
    EXPECT_NEAR(*gemm.errors->false_reject, 0.001 / 2, 1e-12);
    EXPECT_EQ(gemm.author, "") << "the file says it for all";
    EXPECT_EQ(derived.file.author, "operations");
    EXPECT_EQ(derived.file.expires, "2027-05-22");
    EXPECT_EQ(derived.limits[0].left_out, 1U);
    const auto& latency = derived.limits[1].limit;
    EXPECT_GT(*latency.at_most, *latency.center);
    EXPECT_FALSE(latency.at_least);
    EXPECT_GT(derived.limits[0].by_replicas[0], derived.limits[0].by_replicas[3]);
}

TEST(Derive, WritesWhatLintAndCheckRead) {
    Nodes nodes{12};
    const auto derived = derive(nodes.collection(), options()).value();
    const auto text = json::to_text(to_json(derived.file));
    const auto read = must(parse_limits(text, "fleet.json"));
    const auto found = lint({{.file = "fleet.json", .limits = read}}, {.now = now});
    EXPECT_THAT(found, IsEmpty()) << found[0].what;
    auto limits = layered({read}).value();
    Nodes later{1, 0, 7};
    later.add("m-slow", true);
    const auto judged = must(judge(later.collection(), limits, {.now = now}));
    ASSERT_EQ(judged.nodes.size(), 2U);
    const auto& checks = judged.nodes[0].checks;
    const auto gemm = std::ranges::find_if(
        checks, [](const Check& check) { return check.id.find("gemm") != std::string::npos; });
    ASSERT_NE(gemm, checks.end());
    EXPECT_EQ(gemm->outcome, Outcome::fail)
        << to_string(gemm->cause) << " " << gemm->value.value_or(0) << " "
        << gemm->bound.value_or(0) << " " << gemm->replicas << " " << gemm->runs << " "
        << gemm->p_fail.value_or(9);
    for (const auto& check : judged.nodes[1].checks)
        EXPECT_NE(check.outcome, Outcome::fail) << check.id;
}

TEST(Derive, SaysWhichNodesAreMissing) {
    Nodes nodes{3};
    const auto derived = derive(nodes.collection(), options());
    ASSERT_FALSE(derived);
    EXPECT_THAT(derived.error().message, HasSubstr("\"c7a.large\" has 3: measure 2 more"));
    auto by_device = options();
    by_device.by = "device";
    const auto none = derive(nodes.collection(), by_device);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().message, HasSubstr("no run records its device"));
    auto filtered = options();
    filtered.filter = {"family=nothing"};
    EXPECT_FALSE(derive(nodes.collection(), filtered));
    EXPECT_FALSE(derive({}, options()));
}

} // namespace
} // namespace assay::judge
