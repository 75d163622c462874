// SPDX-License-Identifier: Apache-2.0
#include "workload/plan_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace assay::workload {
namespace {

using testing::ElementsAre;

constexpr int tiles = 2; // types of settings
constexpr int cluster = 27;
constexpr double never = std::numeric_limits<double>::infinity();

std::int64_t knob_of(const PlanPoint& of, int type) {
    for (const Knob& knob : of.knobs)
        if (knob.type == type) return knob.value;
    return 0;
}

class Search : public testing::Test {
protected:
    /// Each trial takes a hundredth of a second.
    std::string run(const PlanLimits& limits, const std::vector<PlanPoint>& list,
                    const std::vector<PlanPoint>& others = {}) {
        std::vector<PlanPoint> tried;
        const auto time = [&](std::size_t i, const PlanPoint& point, double /*best*/) {
            if (i == tried.size()) tried.push_back(point);
            EXPECT_EQ(tried.at(i), point);
            spent_ += 0.01;
            return seconds_(point);
        };
        PlanSearch search{limits, time, [&] { return spent_; },
                          [&](std::int64_t) { return ranges_; }};
        const auto found = search.run(list, others);
        tried_ = tried.size();
        works_ = search.works();
        if (!found) return "none";
        return std::to_string(tried.at(*found).engine) + ':' +
               std::to_string(knob_of(tried.at(*found), tiles)) + ',' +
               std::to_string(knob_of(tried.at(*found), cluster));
    }
    std::function<double(const PlanPoint&)> seconds_ = [](const PlanPoint& of) {
        const auto tile = knob_of(of, tiles);
        const auto blocks = knob_of(of, cluster);
        if (of.engine == 51 || tile == 6) return never;
        return (of.engine == 41 ? 30e-6 : 31e-6) +
               1e-6 * static_cast<double>((tile - 3) * (tile - 3)) +
               1e-6 * static_cast<double>((blocks - 2) * (blocks - 2));
    };
    std::vector<KnobRange> ranges_{{tiles, 0, 7, 1}, {cluster, 1, 4, 1}};
    double spent_ = 0;
    std::size_t tried_ = 0;
    std::size_t works_ = 0;
};

TEST_F(Search, FindsTheBestSettingsOfTheBestEngine) {
    EXPECT_EQ(run({}, {{10, {}}, {41, {}}}), "41:3,2");
    EXPECT_LT(works_, tried_); // one value never works
}

TEST_F(Search, TakesAnEngineThatIsNotListed) {
    ranges_.clear();
    EXPECT_EQ(run({}, {{10, {}}}, {{41, {}}, {51, {}}}), "41:0,0");
    EXPECT_EQ(tried_, 3U);
    EXPECT_EQ(works_, 2U);
}

TEST_F(Search, TriesTheFirstOfTheListHoweverLongItTakes) {
    std::vector<PlanPoint> list;
    for (std::int64_t tile = 0; tile < 6; ++tile) list.push_back({10, {{tiles, tile}}});
    EXPECT_EQ(run({.least = 5, .seconds = 0}, list, {{41, {}}}), "10:3,0");
    EXPECT_EQ(tried_, 5U);
}

TEST_F(Search, EndsWithItsTime) {
    run({.seconds = 0.05}, {{10, {}}, {41, {}}});
    EXPECT_EQ(tried_, 5U);
    spent_ = 0;
    run({.most = 6}, {{10, {}}, {41, {}}});
    EXPECT_EQ(tried_, 6U);
}

TEST_F(Search, FindsNoneWhereNoneWorks) {
    EXPECT_EQ(run({}, {{51, {}}}), "none");
    EXPECT_EQ(run({}, {}), "none");
}

TEST_F(Search, TakesTheEarlierOfEquals) {
    seconds_ = [](const PlanPoint& of) { return of.engine == 41 ? 29.99e-6 : 30e-6; };
    ranges_.clear();
    EXPECT_EQ(run({}, {{10, {}}, {41, {}}}), "10:0,0");
}

TEST(KnobRange, GrowingStepsWhereValuesAreMany) {
    EXPECT_THAT((KnobRange{tiles, 0, 4, 2}.values(32)), ElementsAre(0, 2, 4));
    EXPECT_THAT((KnobRange{tiles, 1, 2048, 1}.values(5)), ElementsAre(1, 2, 4, 8, 16));
    EXPECT_THAT((KnobRange{tiles, 3, 3, 0}.values(32)), ElementsAre(3));
}

} // namespace
} // namespace assay::workload
