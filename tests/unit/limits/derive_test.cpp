// SPDX-License-Identifier: Apache-2.0

#include "base/utc.hpp"
#include "fleet/derive.hpp"
#include "json/json.hpp"
#include "judge/judge.hpp"
#include "judge/lint.hpp"
#include "support/collection_maker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

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
    Collection& collection() { return maker_.collection(); }

private:
    double noise(double deviation) { return std::exp(deviation * law_(random_)); }
    void observe(std::uint32_t run, const Series& series, double level, double deviation) {
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

DeriveOptions options() {
    return {.name = "fleet", .author = "operations", .valid_days = 180, .now = now};
}

TEST(Derive, TakesABoundFromTheGoodNodes) {
    Nodes nodes{40, 1};
    const auto derived = derive(nodes.collection(), options());
    ASSERT_TRUE(derived) << derived.error().message;
    ASSERT_EQ(derived->limits.size(), 2U);
    const auto& gemm = derived->limits[0].limit;
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
    EXPECT_EQ(derived->file.author, "operations");
    EXPECT_EQ(derived->file.expires, "2027-05-22");
    EXPECT_EQ(derived->limits[0].left_out, 1U);
    const auto& latency = derived->limits[1].limit;
    EXPECT_GT(*latency.at_most, *latency.center);
    EXPECT_FALSE(latency.at_least);
    EXPECT_GT(derived->limits[0].by_replicas[0], derived->limits[0].by_replicas[3]);
}

TEST(Derive, WritesWhatLintAndCheckRead) {
    Nodes nodes{12};
    const auto derived = derive(nodes.collection(), options());
    ASSERT_TRUE(derived);
    const auto text = json::to_text(to_json(derived->file));
    const auto read = parse_limits(text, "fleet.json");
    ASSERT_TRUE(read) << read.error().message;
    const auto found = lint({{.file = "fleet.json", .limits = *read}}, {.now = now});
    EXPECT_THAT(found, IsEmpty()) << found[0].what;
    auto limits = layered({*read});
    ASSERT_TRUE(limits);
    Nodes later{1, 0, 7};
    later.add("m-slow", true);
    const auto judged = judge(later.collection(), *limits, {.now = now});
    ASSERT_TRUE(judged) << judged.error().message;
    ASSERT_EQ(judged->nodes.size(), 2U);
    const auto& checks = judged->nodes[0].checks;
    const auto gemm = std::ranges::find_if(
        checks, [](const Check& check) { return check.id.find("gemm") != std::string::npos; });
    ASSERT_NE(gemm, checks.end());
    EXPECT_EQ(gemm->outcome, Outcome::fail)
        << to_string(gemm->cause) << " " << gemm->value.value_or(0) << " "
        << gemm->bound.value_or(0) << " " << gemm->replicas << " " << gemm->runs << " "
        << gemm->p_fail.value_or(9);
    for (const auto& check : judged->nodes[1].checks)
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
    EXPECT_THAT(none.error().message, HasSubstr("no run says its device"));
    auto filtered = options();
    filtered.filter = {"family=nothing"};
    EXPECT_FALSE(derive(nodes.collection(), filtered));
    EXPECT_FALSE(derive({}, options()));
}

TEST(Derive, IsADocumentAndData) {
    Nodes nodes{10};
    const auto derived = derive(nodes.collection(), options());
    ASSERT_TRUE(derived);
    const auto document = make_document(*derived);
    EXPECT_THAT(document.verdict, HasSubstr("2 limits"));
    ASSERT_EQ(document.sections.size(), 4U);
    const auto value = json::parse(to_json(*derived), "json");
    ASSERT_TRUE(value);
    EXPECT_EQ((*value)["nodes"], 10);
    EXPECT_EQ((*value)["deliveries"][0]["nodes"], 10);
    EXPECT_EQ((*value)["deliveries"][0]["allowed"], 0);
    EXPECT_EQ((*value)["limits"][0]["by_replicas"][3]["replicas"], 40);
}

} // namespace
} // namespace assay::report
