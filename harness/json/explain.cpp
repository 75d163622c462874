// SPDX-License-Identifier: Apache-2.0
#include "json/explain.hpp"

#include "base/text.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace assay::json {
namespace {

const Value* member(const Value* object, std::string_view key) {
    if (object == nullptr || !object->is_object()) return nullptr;
    const auto found = object->find(key);
    return found == object->end() ? nullptr : &*found;
}

/// Follows "$ref": "#/definitions/..." as often as there are definitions to go through.
const Value* resolve(const Value* schema, const Value& root) {
    constexpr int most = 32; // a longer chain is a loop
    for (int i = 0; i < most; ++i) {
        const Value* reference = member(schema, "$ref");
        if (reference == nullptr || !reference->is_string()) return schema;
        const auto& text = reference->get_ref<const std::string&>();
        if (!text.starts_with("#/")) return schema;
        schema = &root;
        std::string_view rest = std::string_view{text}.substr(2);
        while (schema != nullptr && !rest.empty()) {
            const auto slash = rest.find('/');
            schema = member(schema, rest.substr(0, slash));
            rest = slash == rest.npos ? std::string_view{} : rest.substr(slash + 1);
        }
    }
    return nullptr;
}

const Value* schema_below(const Value* schema, const Step& step, const Value& root) {
    if (step.index) {
        const Value* items = member(schema, "items");
        if (items != nullptr && items->is_array())
            return *step.index < items->size() ? resolve(&(*items)[*step.index], root)
                                               : resolve(member(schema, "additionalItems"), root);
        return resolve(items, root);
    }
    if (const Value* named = member(member(schema, "properties"), step.key); named != nullptr)
        return resolve(named, root);
    return resolve(member(schema, "additionalProperties"), root);
}

std::string_view kind_of(const Value& value) {
    if (value.is_number_integer()) return "integer";
    if (value.is_number()) return "number";
    if (value.is_string()) return "string";
    if (value.is_boolean()) return "boolean";
    if (value.is_array()) return "array";
    return value.is_object() ? "object" : "null";
}

std::string with_article(std::string_view kind) {
    if (kind == "boolean") return "true or false";
    if (kind == "null") return "null";
    const bool vowel = kind.starts_with('a') || kind.starts_with('i') || kind.starts_with('o');
    return fmt::format("{} {}", vowel ? "an" : "a", kind);
}

std::string one_of(const std::vector<std::string>& choices) {
    std::string text;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (i > 0) text += i + 1 == choices.size() ? " or " : ", ";
        text += choices[i];
    }
    return text;
}

using Finding = std::optional<std::string>;

std::string wrong(const Value& value, std::string_view expected) {
    return fmt::format("got {}, expected {}", show(value), expected);
}

Finding wrong_type(const Value& value, const Value& schema) {
    const Value* type = member(&schema, "type");
    if (type == nullptr) return {};
    const Value types = type->is_array() ? *type : Value::array({*type});
    std::vector<std::string> choices;
    for (const Value& choice : types) {
        if (!choice.is_string()) return {};
        const auto& name = choice.get_ref<const std::string&>();
        const auto kind = kind_of(value);
        if (name == kind || (name == "number" && kind == "integer")) return {};
        choices.push_back(with_article(name));
    }
    return wrong(value, one_of(choices));
}

Finding wrong_choice(const Value& value, const Value& schema) {
    if (const Value* constant = member(&schema, "const"); constant && *constant != value)
        return wrong(value, show(*constant));
    const Value* choices = member(&schema, "enum");
    if (choices == nullptr || !choices->is_array()) return {};
    std::vector<std::string> shown;
    std::vector<std::string> names;
    for (const Value& choice : *choices) {
        if (choice == value) return {};
        shown.push_back(show(choice));
        if (choice.is_string()) names.push_back(choice.get<std::string>());
    }
    std::string text = wrong(value, one_of(shown));
    if (value.is_string()) {
        const auto near = nearest(value.get_ref<const std::string&>(), names);
        if (!near.empty()) text += fmt::format(" (did you mean \"{}\"?)", near);
    }
    return text;
}

Finding missing_key(const Value& value, const Value& schema) {
    const Value* required = member(&schema, "required");
    if (required == nullptr || !required->is_array()) return {};
    for (const Value& key : *required) {
        if (!key.is_string()) continue;
        const auto& name = key.get_ref<const std::string&>();
        if (value.contains(name)) continue;
        const Value* about = member(member(member(&schema, "properties"), name), "description");
        return about != nullptr && about->is_string()
                   ? fmt::format("`{}` is missing: {}", name, about->get<std::string>())
                   : fmt::format("`{}` is missing", name);
    }
    return {};
}

Finding unknown_key(const Value& value, const Value& schema) {
    const Value* additional = member(&schema, "additionalProperties");
    if (additional == nullptr || *additional != Value(false)) return {};
    std::vector<std::string> known;
    if (const Value* properties = member(&schema, "properties"))
        for (const auto& item : properties->items()) known.push_back(item.key());
    for (const auto& item : value.items())
        if (std::ranges::find(known, item.key()) == known.end())
            return fmt::format("unknown key {}{}", show_text(item.key()),
                               suggestion(item.key(), known));
    return {};
}

Finding wrong_keys(const Value& value, const Value& schema) {
    if (!value.is_object()) return {};
    if (auto missing = missing_key(value, schema)) return missing;
    return unknown_key(value, schema);
}

/// A keyword that bounds a number: of the value itself, or of what it has many of.
struct Bound {
    const char* keyword;
    bool (*broken)(double value, double bound);
    fmt::format_string<std::string> words;
};

bool below(double value, double bound) { return value < bound; }
bool above(double value, double bound) { return value > bound; }
bool not_above(double value, double bound) { return value <= bound; }
bool not_below(double value, double bound) { return value >= bound; }

constexpr std::array number_bounds{Bound{"minimum", below, "at least {}"},
                                   Bound{"maximum", above, "at most {}"},
                                   Bound{"exclusiveMinimum", not_above, "more than {}"},
                                   Bound{"exclusiveMaximum", not_below, "less than {}"}};
constexpr std::array text_bounds{Bound{"minLength", below, "at least {} characters"},
                                 Bound{"maxLength", above, "at most {} characters"}};
constexpr std::array array_bounds{Bound{"minItems", below, "at least {}"},
                                  Bound{"maxItems", above, "at most {}"}};
constexpr std::array object_bounds{Bound{"minProperties", below, "at least {}"},
                                   Bound{"maxProperties", above, "at most {}"}};

Finding broken_bound(const Value& schema, double number, std::string_view got,
                     std::span<const Bound> bounds) {
    for (const Bound& bound : bounds) {
        const Value* limit = member(&schema, bound.keyword);
        if (limit == nullptr || !limit->is_number()) continue;
        if (bound.broken(number, limit->get<double>()))
            return fmt::format("got {}, expected {}", got, fmt::format(bound.words, show(*limit)));
    }
    return {};
}

Finding wrong_size(const Value& value, const Value& schema) {
    if (value.is_number())
        return broken_bound(schema, value.get<double>(), show(value), number_bounds);
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        return broken_bound(schema, static_cast<double>(text.size()), show(value), text_bounds);
    }
    const auto count = static_cast<double>(value.size());
    if (value.is_array())
        return broken_bound(schema, count, fmt::format("{} elements", value.size()), array_bounds);
    if (value.is_object())
        return broken_bound(schema, count, fmt::format("{} keys", value.size()), object_bounds);
    return {};
}

Finding reason(const Value& value, const Value& schema) {
    for (const auto& look : {wrong_type, wrong_choice, wrong_keys, wrong_size})
        if (auto found = look(value, schema)) return found;
    return {};
}

} // namespace

std::string explain(const Value& root, const Value& schema, const Path& path,
                    std::string_view fallback, std::string_view source) {
    const Value* value = &root;
    const Value* rules = resolve(&schema, schema);
    std::string place;
    for (const Step& step : path) {
        rules = schema_below(rules, step, schema);
        if (step.index) {
            value = &(*value)[*step.index];
            place = join(place, *step.index);
        } else {
            value = &value->at(step.key);
            place = join(place, step.key);
        }
    }
    Finding found;
    if (rules != nullptr && rules->is_object()) found = reason(*value, *rules);
    if (!found) found = wrong(*value, fmt::format("what the schema says: {}", fallback));
    return located(source, place, *found);
}

} // namespace assay::json
