// SPDX-License-Identifier: Apache-2.0
//
// Files with very many names. Whatever searches a list for each of its names would take hours here.

#include "json/json.hpp"
#include "record/convert.hpp"
#include "rendered.hpp"
#include "report/curves.hpp"
#include "report/json.hpp"
#include "sample.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

namespace assay::report {
namespace {

record::NamedList many(std::size_t count, const std::string& name) {
    record::NamedList list;
    for (std::size_t i = 0; i < count; ++i)
        list.push_back({name + std::to_string(i), static_cast<std::int64_t>(i + 1)});
    return list;
}

TEST(ManyNames, AMillionMembersMakeAnObject) {
    constexpr std::size_t count = 1'000'000;
    record::Case c{.benchmark = "a", .settings = many(count, "s")};
    c.settings.push_back({"s7", std::string{"said twice"}});
    const auto settings = record::to_json(c)["settings"];
    EXPECT_EQ(settings.size(), count);
    const auto& members = settings.get_ref<const json::Value::object_t&>();
    EXPECT_EQ(std::next(members.begin(), 7)->second, "said twice");
}

TEST(ManyNames, FactsOfAMachineAreRendered) {
    constexpr std::size_t count = 200'000;
    auto run = test::golden_run();
    run.machine.software = many(count, "library");
    const auto report = make_report(run);
    EXPECT_GE(report.software.size(), count);
    EXPECT_NE(to_json({&report, 1}).find("library199999"), std::string::npos);
    EXPECT_NE(test::html_of(run).find("library199999"), std::string::npos);
    EXPECT_NE(test::markdown_of(run).find("library199999"), std::string::npos);
}

/// Parameters that all vary, each of which a curve could sweep, and settings of the same names.
TEST(ManyNames, ParametersOfSeveralCasesAreRendered) {
    constexpr std::size_t count = 8'000;
    constexpr std::int64_t cases = 5;
    record::Run run;
    for (std::int64_t i = 1; i <= cases; ++i) {
        record::Case c{.benchmark = "memory.latency",
                       .place = {.kind = "host"},
                       .library = "host",
                       .parameters = many(count, "p"),
                       .settings = many(count, "p"),
                       .headline = "latency",
                       .status = record::Status::ok};
        for (auto& parameter : c.parameters) parameter.value = std::string{"all"};
        c.parameters.back().value = i;
        c.metrics.push_back(
            {.name = "latency", .unit = "s", .higher_is_better = false, .value = 1e-9});
        run.cases.push_back(std::move(c));
    }
    const auto found = find_curves(run);
    ASSERT_EQ(found.charts.size(), 1U);
    EXPECT_EQ(found.charts[0].x_title, "p7999");
    EXPECT_EQ(found.charts[0].curves.at(0).points.size(), static_cast<std::size_t>(cases));
    const auto report = make_report(run);
    EXPECT_NE(to_json({&report, 1}).find("p7998"), std::string::npos);
    EXPECT_NE(test::html_of(run).find("p7998"), std::string::npos);
}

} // namespace
} // namespace assay::report
