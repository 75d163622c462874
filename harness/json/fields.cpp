// SPDX-License-Identifier: Apache-2.0
#include "json/fields.hpp"

#include "base/text.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::json {
namespace {

const Value& empty_object() {
    static const Value empty = Value::object();
    return empty;
}

const Value* find_in(const Value& object, std::string_view key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

} // namespace

const Value* Object::find(std::string_view key) const { return find_in(*value_, key); }

const Value* Object::required(std::string_view key) const {
    const Value* value = find(key);
    if (value == nullptr) document_->problem(path_, fmt::format("`{}` is missing", key));
    return value;
}

void Object::read(std::string_view key, std::string& out) const {
    const Value* value = required(key);
    if (value == nullptr) return;
    if (!value->is_string()) return expected(key, "a string");
    out = value->get_ref<const std::string&>();
}

void Object::read(std::string_view key, bool& out) const {
    const Value* value = required(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return expected(key, "true or false");
    out = value->get<bool>();
}

void Object::read(std::string_view key, double& out) const {
    const Value* value = required(key);
    if (value == nullptr) return;
    if (!value->is_number()) return expected(key, "a number");
    out = value->get<double>();
}

void Object::read(std::string_view key, std::vector<std::string>& out) const {
    read_elements(key, out, "a string", [](const Value& item) {
        return item.is_string() ? std::optional{item.get<std::string>()} : std::nullopt;
    });
}

void Object::read(std::string_view key, std::vector<double>& out) const {
    read_elements(key, out, "a number", [](const Value& item) {
        return item.is_number() ? std::optional{item.get<double>()} : std::nullopt;
    });
}

void Object::wrong_element(std::string_view key, std::size_t index, std::string_view what) const {
    document_->problem(join(join(path_, key), index),
                       fmt::format("got {}, expected {}", show((*find(key))[index]), what));
}

Object Object::object(std::string_view key) const {
    const Value* value = required(key);
    if (value != nullptr && !value->is_object()) {
        expected(key, "an object");
        value = nullptr;
    }
    return {value == nullptr ? empty_object() : *value, join(path_, key), *document_};
}

const Value* Object::read_array(std::string_view key) const {
    const Value* value = required(key);
    if (value == nullptr || value->is_array()) return value;
    expected(key, "an array");
    return nullptr;
}

Object Object::element(std::string_view key, const Value& value, std::size_t index) const {
    std::string path = join(join(path_, key), index);
    if (!value.is_object())
        document_->problem(path, fmt::format("got {}, expected an object", show(value)));
    return {value, std::move(path), *document_};
}

void Object::only(std::initializer_list<std::string_view> keys) const {
    only(std::vector<std::string>(keys.begin(), keys.end()));
}

void Object::only(const std::vector<std::string>& keys) const {
    if (!value_->is_object() || failed()) return;
    for (const auto& item : value_->items())
        if (std::ranges::find(keys, item.key()) == keys.end())
            return document_->problem(path_, fmt::format("unknown key {}{}", show_text(item.key()),
                                                         suggestion(item.key(), keys)));
}

void Object::expected(std::string_view key, std::string_view what) const {
    const Value* value = find(key);
    if (value == nullptr) return problem(key, fmt::format("is missing, expected {}", what));
    problem(key, fmt::format("got {}, expected {}", show(*value), what));
}

void Object::problem(std::string_view key, std::string_view text) const {
    document_->problem(join(path_, key), text);
}

bool Object::failed() const { return document_->failed(); }

Object Document::root() {
    if (value_->is_object()) return {*value_, "", *this};
    problem("", fmt::format("got {}, expected an object", show(*value_)));
    return {empty_object(), "", *this};
}

void Document::problem(std::string_view path, std::string_view text) {
    if (!problem_) problem_ = located(source_, path, text);
}

Result<void> Document::result() const {
    if (problem_) return fail(*problem_);
    return {};
}

} // namespace assay::json
