// SPDX-License-Identifier: Apache-2.0
//
// The types that the page's script has of the charts are made from the lists of their fields: ASSAY_GOLDEN=write writes
// them anew.

#include "document/chart.hpp"
#include "json/codec.hpp"
#include "support/temporary_folder.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <typeinfo>
#include <vector>

namespace assay::document {
namespace {

/// "Point" of a struct of that name.
template <class T>
std::string name_of() {
    const std::unique_ptr<char, decltype(&std::free)> name{
        abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr), &std::free};
    const std::string whole{name.get()};
    return whole.substr(whole.rfind(':') + 1);
}

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
        if (const auto [entry, is_new] = known_.emplace(name_of<T>(), fields); is_new)
            text += fmt::format("\nexport interface {} {{\n{}}}\n", name_of<T>(), fields);
        return name_of<T>();
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
    const std::vector<std::string> charts{types.add<document::CurveChart>("curves"),
                                          types.add<document::HeatMap>("heat"),
                                          types.add<document::RooflineChart>("roofline"),
                                          types.add<document::RatioChart>("ratios"),
                                          types.add<document::TimeChart>("time"),
                                          types.add<document::RankingChart>("ranking")};
    return fmt::format(R"(// SPDX-License-Identifier: Apache-2.0
//
// Made from the field lists of reports/document/chart.hpp by tests/unit/reports/page_types_test.cpp: what the
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
    EXPECT_EQ(test::content_of(path), page_types()) << "to take this over: ASSAY_GOLDEN=write";
}

} // namespace
} // namespace assay::document
