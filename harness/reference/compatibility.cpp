// SPDX-License-Identifier: Apache-2.0
#include "reference/compatibility.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/quantity.hpp"
#include "json/fields.hpp"

namespace assay::reference {
namespace {

Version version(const json::Object& row, std::string_view key) {
    std::string text;
    if (row.has(key)) row.read(key, text);
    const auto found = parse_version(text);
    if (!text.empty() && !found) row.expected(key, "numbers with points between them, as in 12.9");
    return found.value_or(Version{});
}

} // namespace

Result<Compatibility> parse_compatibility(std::string_view text, std::string_view source,
                                          const json::Value& schema) {
    ASSAY_TRY(const auto value, json::parse(text, source));
    ASSAY_TRY(json::check_schema(value, schema, source));
    json::Document document{value, source};
    Compatibility found;
    document.root().each("toolkits", [&](const json::Object& row) {
        auto& one = found.toolkits.emplace_back();
        one.toolkit = version(row, "toolkit");
        one.driver = version(row, "driver");
        row.read("source", one.source);
    });
    document.root().each("chips", [&](const json::Object& row) {
        auto& one = found.chips.emplace_back();
        row.read("compute_capability", one.compute_capability);
        one.first_toolkit = version(row, "first_toolkit");
        one.last_toolkit = version(row, "last_toolkit");
        one.last_driver = version(row, "last_driver");
        row.read("source", one.source);
    });
    ASSAY_TRY(document.result());
    return found;
}

Result<Compatibility> read_compatibility() {
    const auto share = layout().share;
    const auto file = share / "compatibility" / "nvidia.json";
    ASSAY_TRY(const auto schema, json::read_file(share / "schema" / "compatibility.json"));
    ASSAY_TRY(const auto text, read_whole(file, json::Limits{}.bytes));
    return parse_compatibility(text, file.string(), schema);
}

} // namespace assay::reference
