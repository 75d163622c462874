// SPDX-License-Identifier: Apache-2.0

#include "import/values.hpp"

#include <fmt/format.h>

namespace assay::report {

using json::Value;

const Value* find(const Value& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_at(const Value& object, const char* key) {
    const Value* value = find(object, key);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

std::optional<double> number_at(const Value& object, const char* key) {
    const Value* value = find(object, key);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->get<double>();
}

Result<const Value*> array_at(const Value& document, const char* key, std::string_view source,
                              std::string_view tool, std::string_view hint) {
    const Value* list = find(document, key);
    if (list == nullptr || !list->is_array())
        return fail(fmt::format("{}: `{}` is missing, expected an array: this is no JSON of {}{}",
                                source, key, tool, hint));
    return list;
}

} // namespace assay::report
