// SPDX-License-Identifier: Apache-2.0
#include "json/codec.hpp"

#include "json/words.hpp"

namespace assay::json {

std::optional<Scalar> scalar_from(const Value& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>()))
        return {};
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    return {};
}

void decode(const Object& object, std::string_view key, std::vector<Scalar>& out) {
    const Value* list = object.find(key);
    if (list == nullptr || !list->is_array()) return object.expected(key, "an array");
    out.clear();
    for (const auto& item : *list) {
        auto value = scalar_from(item);
        if (!value)
            return object.problem(key,
                                  fmt::format("got {}, expected {}", show(item), scalar_words));
        out.push_back(*std::move(value));
    }
}

void decode(const Object& object, std::string_view key, std::vector<std::optional<double>>& out) {
    constexpr std::string_view expected = "an array of numbers and nulls";
    const Value* list = object.find(key);
    if (list == nullptr || !list->is_array()) return object.expected(key, expected);
    out.clear();
    for (const auto& value : *list) {
        if (!value.is_null() && !value.is_number()) return object.expected(key, expected);
        out.push_back(value.is_null() ? std::nullopt : std::optional{value.get<double>()});
    }
}

} // namespace assay::json
