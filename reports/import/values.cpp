// SPDX-License-Identifier: Apache-2.0

#include "import/values.hpp"

#include "import/lines.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace assay::imports {

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

namespace {

std::string printed(const Value& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_primitive() && !value.is_null() ? value.dump() : "";
}

} // namespace

std::string printed_at(const Value& object, const char* key) {
    const Value* value = find(object, key);
    return value == nullptr ? "" : printed(*value);
}

Fields fields_of(const Value& object) {
    Fields fields;
    if (!object.is_object()) return fields;
    for (const auto& [key, value] : object.items())
        if (auto text = printed(value); !text.empty()) fields.emplace(key, std::move(text));
    return fields;
}

std::string_view text_of(const Fields& fields, std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string_view{} : std::string_view{found->second};
}

Result<std::vector<Value>> documents_of(std::string_view text, std::string_view source,
                                        std::size_t largest) {
    std::vector<Value> documents;
    auto whole = json::parse(text, source, {.bytes = largest});
    if (whole && whole->is_array()) {
        auto& items = whole->get_ref<Value::array_t&>();
        documents.assign(std::move_iterator{items.begin()}, std::move_iterator{items.end()});
        return documents;
    }
    if (whole) {
        documents.push_back(*std::move(whole));
        return documents;
    }
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const auto content = trimmed(take_line(text));
        if (content.empty()) continue;
        auto line =
            json::parse(content, fmt::format("{}: line {}", source, number), {.bytes = largest});
        // Of a document that is broken, the first lines are none either: what is wrong with the whole says more.
        if (!line) return tl::unexpected{documents.empty() ? whole.error() : line.error()};
        documents.push_back(*std::move(line));
    }
    return documents;
}

Result<const Value*> array_at(const Value& document, const char* key, std::string_view source,
                              std::string_view tool, std::string_view hint) {
    const Value* list = find(document, key);
    if (list == nullptr || !list->is_array())
        return fail(fmt::format("{}: `{}` is missing, expected an array: this is no JSON of {}{}",
                                source, key, tool, hint));
    return list;
}

} // namespace assay::imports
