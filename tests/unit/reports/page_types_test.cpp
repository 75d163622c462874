// SPDX-License-Identifier: Apache-2.0
//
// The types that the page's script has of the charts are made from the lists of their fields: ASSAY_GOLDEN=write writes
// them anew.

#include "document/chart_layout.hpp"
#include "json/codec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace assay::document {
namespace {

template <class T>
constexpr const char* name_of = "";
template <>
constexpr const char* name_of<Point> = "Point";
template <>
constexpr const char* name_of<Curve> = "Curve";
template <>
constexpr const char* name_of<Mark> = "Mark";
template <>
constexpr const char* name_of<CurveChart> = "CurveChart";
template <>
constexpr const char* name_of<HeatMap> = "HeatMap";
template <>
constexpr const char* name_of<Roof> = "Roof";
template <>
constexpr const char* name_of<RoofPoint> = "RoofPoint";
template <>
constexpr const char* name_of<RooflineChart> = "RooflineChart";
template <>
constexpr const char* name_of<Ratio> = "Ratio";
template <>
constexpr const char* name_of<RatioChart> = "RatioChart";
template <>
constexpr const char* name_of<TimePoint> = "TimePoint";
template <>
constexpr const char* name_of<TimeMark> = "TimeMark";
template <>
constexpr const char* name_of<TimeChart> = "TimeChart";
template <>
constexpr const char* name_of<RankedMeasure> = "RankedMeasure";
template <>
constexpr const char* name_of<RankedType> = "RankedType";
template <>
constexpr const char* name_of<RankedChoice> = "RankedChoice";
template <>
constexpr const char* name_of<RankingChart> = "RankingChart";

class Types {
public:
    template <class T>
    std::string add(const char* kind = "") {
        std::string fields;
        if (*kind != '\0') fields = fmt::format("  kind: \"{}\";\n", kind);
        const T record{};
        each_field(
            [&](const char* key, const auto& member) {
                fields += fmt::format("  {}: {};\n", key, type_of(member));
            },
            record);
        if (const auto [entry, is_new] = known_.emplace(name_of<T>, fields); is_new)
            text += fmt::format("\nexport interface {} {{\n{}}}\n", name_of<T>, fields);
        return name_of<T>;
    }
    std::string text;

private:
    static std::string type_of(double) { return "number"; }
    static std::string type_of(std::size_t) { return "number"; }
    static std::string type_of(bool) { return "boolean"; }
    static std::string type_of(const std::string&) { return "string"; }
    static std::string type_of(const std::optional<double>&) { return "Maybe"; }
    template <class T>
    std::string type_of(const std::vector<T>&) {
        return type_of(T{}) + "[]";
    }
    template <json::Record T>
    std::string type_of(const T&) {
        return add<T>();
    }
    std::map<std::string, std::string> known_;
};

std::string page_types() {
    Types types;
    const std::vector<std::string> charts{
        types.add<CurveChart>("curves"),      types.add<HeatMap>("heat"),
        types.add<RooflineChart>("roofline"), types.add<RatioChart>("ratios"),
        types.add<TimeChart>("time"),         types.add<RankingChart>("ranking")};
    return fmt::format(R"(// SPDX-License-Identifier: Apache-2.0
//
// Made from the field lists of reports/document/chart_layout.hpp by tests/unit/reports/page_types_test.cpp: what the
// page carries for its script. Numbers are SI base units, rounded to seven digits.

export type Maybe = number | null;

export interface Page {{
  language: "en" | "zh";
  sides: string[]; // of a comparison, the first is side 1
  charts: ChartData[]; // of the figures, by their number
}}

export type ChartData = {};
{})",
                       fmt::join(charts, " | "), types.text);
}

TEST(PageTypes, AreThoseOfTheFieldLists) {
    const auto path = std::filesystem::path{ASSAY_PAGE_TYPES};
    if (std::getenv("ASSAY_GOLDEN") != nullptr) std::ofstream{path} << page_types();
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), page_types()) << "to take this over: ASSAY_GOLDEN=write";
}

} // namespace
} // namespace assay::document
