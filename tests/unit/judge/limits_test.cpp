// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "judge/limits.hpp"
#include "judge/match.hpp"
#include "judge/words.hpp"
#include "support/document.hpp"
#include "support/results.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace assay::judge {
namespace {

using namespace testing;

std::string file_of(const std::string& limit, const std::string& rest = "") {
    return fmt::format(R"({{"schema": "assay.limits/1", "name": "x", "date": "2026-01-02"{},
        "limits": [{{"id": "a", "kind": "spec", "source": "s", "case": {{"benchmark": "gemm.square"}}, {}}}]}})",
                       rest, limit);
}

TEST(Limits, AreRead) {
    // A key that occurs twice is refused, so that no bound hides another.
    const auto twice =
        parse_limits(file_of(R"("at_least": 1, "at_least": 2, "unit": "s")"), "f.json");
    ASSERT_FALSE(twice);
    EXPECT_THAT(twice.error().message, HasSubstr("f.json"));
    const auto fine = must(parse_limits(
        file_of(
            R"("at_least": 1e12, "unit": "FLOP/s", "metric": "flop_rate", "spread": {"replica": 0.01},
                   "action": "reseat", "machine": {"cores": 64, "device": "NVIDIA H200*"})"),
        "f.json"));
    const auto& limit = fine.limits.at(0);
    EXPECT_EQ(limit.kind, LimitKind::spec);
    EXPECT_EQ(limit.action, Action::reseat);
    EXPECT_EQ(limit.machine.at("cores"), "64");
    EXPECT_EQ(limit.date, "2026-01-02");
    EXPECT_EQ(limit.file, "f.json");
    EXPECT_EQ(limit.spread->replica, 0.01);
    const auto again = must(parse_limits(to_json(fine).dump(), "again"));
    EXPECT_EQ(to_json(again), to_json(fine));
}

TEST(Limits, MayBeWrittenWithAPrefix) {
    const std::tuple<const char*, const char*, double, const char*> written[] = {
        {"GFLOP/s", "flop_rate", 1e9, "FLOP/s"},
        {"TFLOPS", "", 1e12, "FLOP/s"},
        {"TOPS", "", 1e12, "OP/s"},
        {"GB/s", "bandwidth", 1e9, "B/s"},
        {"MiB/s", "", 1048576, "B/s"},
        {"Gb/s", "bandwidth", 1.25e8, "B/s"},
        {"ms", "", 1e-3, "s"},
        {"us", "time", 1e-6, "s"},
        {"\u00B5s", "latency", 1e-6, "s"},
        {"MHz", "", 1e6, "Hz"},
        {"k/s", "iops", 1e3, "1/s"},
        {"%", "late_to_early", 0.01, "1"},
        {"ns/day", "", 1, "ns/day"},
        {"s", "", 1, "s"},
        {"frames/s", "item_rate", 1, "frames/s"},
    };
    for (const auto& [unit, metric, factor, si] : written) {
        const auto file = must(parse_limits(
            file_of(fmt::format(R"("at_least": 2, "warn_at_least": 3, "unit": "{}"{})", unit,
                                *metric == '\0' ? "" : fmt::format(R"(, "metric": "{}")", metric))),
            "f.json"));
        const auto& limit = file.limits[0];
        EXPECT_EQ(limit.unit, si) << unit;
        EXPECT_DOUBLE_EQ(*limit.at_least, 2 * factor) << unit;
        EXPECT_DOUBLE_EQ(*limit.warn_at_least, 3 * factor) << unit;
        EXPECT_EQ(limit.written, factor == 1 ? "" : fmt::format("2 {}", unit));
        EXPECT_EQ(must(parse_limits(to_json(file).dump(), "again")).limits[0].at_least,
                  limit.at_least);
    }
}

TEST(Limits, ThatCannotBeAreRefused) {
    const std::pair<const char*, const char*> wrong[] = {
        {R"("at_least": 1e12)", "unit"},
        {R"("at_least": 2e12, "at_most": 1e12, "unit": "FLOP/s")", "at_least"},
        {R"("at_least": 2e12, "warn_at_least": 1e12, "unit": "FLOP/s")", "warn_at_least"},
        {R"("at_least": 0.9, "share_of": "datasheet", "unit": "FLOP/s")", "unit"},
        {R"("at_least": 0.9, "share_of": "neighbours")", "share_of"},
        {R"("at_least": 0.9, "share_of": "datasheet:peak.fma")", "per_unit"},
        {R"("at_least": 0.9, "share_of": "datasheet", "per_unit": 2)", "per_unit"},
        {R"("at_least": 0.9, "share_of": "datasheet:", "per_unit": 2)", "share_of"},
        {R"("at_least": 1, "unit": "GB/s", "metric": "flop_rate")", "unit"},
        {R"("at_least": 1, "unit": "Gflap/s", "metric": "flop_rate")", "unit"},
        {R"("at_least": 1, "unit": "GFLOPs/W")", "unit"},
        {R"("at_least": 1, "unit": "FLOP/s", "metric": "flops")", "metric"},
        {R"("at_least": 1, "unit": "FLOP/s", "expires": "31.12.2026")", "expires"},
        {R"("at_least": -1, "unit": "FLOP/s")", "at_least"},
        {R"("atleast": 1, "unit": "FLOP/s")", "atleast"},
        {R"("unit": "FLOP/s")", "at_least"},
        {R"("at_least": 1, "unit": "FLOP/s", "machine": {"gpu": "x"})", "gpu"},
    };
    for (const auto& [limit, key] : wrong) {
        const auto file = parse_limits(file_of(limit), "f.json");
        ASSERT_FALSE(file) << limit;
        EXPECT_THAT(file.error().message, AllOf(HasSubstr("f.json"), HasSubstr(key))) << limit;
    }
    EXPECT_FALSE(parse_limits("", "f.json"));
    EXPECT_FALSE(parse_limits(file_of(R"("at_least": 1, "unit": "s")").substr(0, 90), "f.json"));
}

LimitsFile with(std::vector<Limit> limits, std::vector<Waiver> waivers = {}) {
    return {.name = "layer", .limits = std::move(limits), .waivers = std::move(waivers)};
}

TEST(Limits, AreLayered) {
    const auto all = layered({with({{.id = "a", .at_least = 1, .file = "below"}, {.id = "b"}}),
                              with({{.id = "a", .at_least = 2, .file = "above"},
                                    {.id = "c", .share_of = "limit:a"}})})
                         .value();
    ASSERT_EQ(all.limits.size(), 3U);
    EXPECT_EQ(all.limits[0].at_least, 2);
    ASSERT_EQ(all.replaced.size(), 1U);
    EXPECT_EQ(all.replaced[0].file, "below");
    EXPECT_EQ(all.replaced[0].by, "above");
    EXPECT_FALSE(layered({with({{.id = "c", .share_of = "limit:nothing"}})}));
    EXPECT_FALSE(
        layered({with({{.id = "c", .share_of = "limit:d"}, {.id = "d", .share_of = "limit:c"}})}));
    EXPECT_FALSE(layered({with({{.id = "gemm"}}, {{.limit = "gem"}})}));
}

TEST(Limits, OfTheSameCasesDoNotContradictEachOther) {
    const Selector cases{{"benchmark", "memory.stream"}};
    const Limit least{.id = "a", .cases = cases, .unit = "B/s", .at_least = 1e8, .file = "below"};
    Limit most{.id = "b", .cases = cases, .unit = "B/s", .at_most = 1e7, .file = "above"};
    const auto refused = layered({with({least}), with({most})});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("below"), HasSubstr("above"), HasSubstr("1e+08")));
    most.at_most = 1e8;
    EXPECT_TRUE(layered({with({least}), with({most})}));
    most.at_most = 1e7;
    for (const auto change : {+[](Limit& limit) { limit.cases["threads"] = "one"; },
                              +[](Limit& limit) { limit.machine["cores"] = "8"; },
                              +[](Limit& limit) { limit.metric = "item_rate"; },
                              +[](Limit& limit) { limit.unit = "1/s"; },
                              +[](Limit& limit) { limit.share_of = "datasheet"; }}) {
        auto other = most;
        change(other);
        EXPECT_TRUE(layered({with({least}), with({other})}));
    }
}

TEST(Limits, ExpectationsAreLayeredToo) {
    const auto expecting = [](std::vector<std::string> texts, Selector machine = {}) {
        return LimitsFile{.expect = {{.machine = std::move(machine), .expect = std::move(texts)}}};
    };
    const auto all = layered({expecting({"gpu=8", "driver>=580"}), expecting({"gpu=4"}),
                              expecting({"gpu=1"}, {{"instance", "small"}})})
                         .value();
    std::vector<std::string> texts;
    for (const auto& one : all.expect)
        texts.insert(texts.end(), one.expect.begin(), one.expect.end());
    EXPECT_THAT(texts, ElementsAre("driver>=580", "gpu=4", "gpu=1"));
    const auto file = [](const char* texts) {
        return parse_limits(file_of(R"("at_least": 1, "unit": "FLOP/s")",
                                    fmt::format(R"(, "expect": [{{"expect": [{}]}}])", texts)),
                            "f.json");
    };
    EXPECT_TRUE(file(R"("gpu=8", "memory>=1TiB")"));
    EXPECT_TRUE(file(R"("memory>=1TiB", "memory>=2TiB")"));
    const auto refused = file(R"("gpu=8", "gpu=0")");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("f.json"), HasSubstr("gpu=8 and gpu=0")));
}

TEST(Limits, AWaiverNamesAKnownCause) {
    const auto file = [](const char* cause) {
        return parse_limits(
            file_of(
                R"("at_least": 1, "unit": "FLOP/s")",
                fmt::format(
                    R"(, "waivers": [{{"cause": "{}", "machine": "m", "owner": "o", "reason": "r",
                        "expires": "2027-01-01"}}])",
                    cause)),
            "f.json");
    };
    EXPECT_TRUE(file("below_limit"));
    const auto wrong = file("wrong_result");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, HasSubstr("\"wrong_result\" cannot be waived"));
    const auto refused = file("belov_limit");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("cause"), HasSubstr("below_limit")));
}

TEST(Limits, HaveTitlesInBothLanguages) {
    Limit limit{.id = "x", .title = "Memory", .title_zh = "内存"};
    EXPECT_EQ(title_of(limit), "Memory");
    const auto spec = must(read_limits(layout().share / "limits" / "spec.json"));
    for (const auto& one : spec.limits) EXPECT_NE(one.title.empty(), !one.title_zh.empty());
    const test::Speaking chinese{document::Language::zh};
    EXPECT_EQ(title_of(limit), "内存");
    limit.title_zh.clear();
    EXPECT_EQ(title_of(limit), "Memory");
}

TEST(Limits, AreForAFormFactorByTheDataSheet) {
    record::Machine machine;
    machine.devices = {{.kind = "cuda", .name = "NVIDIA H100 80GB HBM3"}};
    EXPECT_TRUE(is_for(Selector{{"form_factor", "SXM*"}}, machine));
    EXPECT_FALSE(is_for(Selector{{"form_factor", "PCIe*"}}, machine));
    machine.devices[0].name = "NVIDIA H100 PCIe";
    EXPECT_TRUE(is_for(Selector{{"form_factor", "PCIe*"}}, machine));
    machine.devices[0].name = "of tomorrow";
    EXPECT_FALSE(is_for(Selector{{"form_factor", "*?"}}, machine)) << "unknown is none";
}

} // namespace
} // namespace assay::judge
