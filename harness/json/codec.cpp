// SPDX-License-Identifier: Apache-2.0
#include "json/codec.hpp"

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
    object.read_elements(key, out, scalar_words, scalar_from);
}

void decode(const Object& object, std::string_view key, std::vector<std::optional<double>>& out) {
    using Number = std::optional<double>;
    object.read_elements(key, out, "a number or null", [](const Value& item) {
        if (item.is_null()) return std::optional{Number{}};
        return item.is_number() ? std::optional{Number{item.get<double>()}} : std::nullopt;
    });
}

} // namespace assay::json
