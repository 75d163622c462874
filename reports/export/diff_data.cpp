// SPDX-License-Identifier: Apache-2.0

#include "export/diff_data.hpp"

#include "diff/document.hpp"
#include "json/json.hpp"
#include "record/same_machine.hpp"

#include <optional>

namespace assay::report {
namespace {

using json::Value;

Value number_or_null(const std::optional<double>& value) {
    return value ? Value(*value) : Value(nullptr);
}

Value described(const DiffSide& side) {
    return {
        {"label", side.label}, {"file", side.file}, {"machine", record::own_id(side.run.machine)}};
}

} // namespace

std::string to_json(const Diff& diff) {
    Value document{{"schema", "assay.diff/1"},
                   {"a", described(diff.a)},
                   {"b", described(diff.b)},
                   {"verdict", verdict_of(diff)},
                   {"same_machine", diff.same_machine},
                   {"differences", Value::array()},
                   {"by_nature", diff.by_nature},
                   {"only_a", diff.only_a},
                   {"only_b", diff.only_b},
                   {"values_compared", diff.compared},
                   {"values", Value::array()}};
    for (const auto& d : diff.differences)
        document["differences"].push_back({{"group", to_string(d.group)},
                                           {"key", d.key},
                                           {"a", d.before},
                                           {"b", d.after},
                                           {"matters", d.matters},
                                           {"count", d.count}});
    for (const auto& v : diff.values)
        document["values"].push_back({{"name", v.name},
                                      {"a", v.before},
                                      {"b", v.after},
                                      {"outcome", to_string(v.contrast.outcome)},
                                      {"ratio", number_or_null(v.contrast.ratio)},
                                      {"low", number_or_null(v.contrast.low)},
                                      {"high", number_or_null(v.contrast.high)}});
    return json::to_text(document);
}

} // namespace assay::report
