// SPDX-License-Identifier: Apache-2.0
//
// The only file that includes valijson: it takes long to compile.
#include "base/text.hpp"
#include "json/json.hpp"
#include "json/words.hpp"

#include <fmt/format.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::json {
namespace {

// --- explain -------------------------------------------------------------------------------------

// Explains why a value does not match a schema. The validator finds the location; what would be right
// is looked up in the schema itself.

/// Into an object by key, or into an array by index.
struct Step {
    std::string key;
    std::optional<std::size_t> index;
};

using Path = std::vector<Step>;

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

/// `path` leads to the wrong value. `fallback` is the validator's description, used where the schema
/// has no simple explanation.
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

// -------------------------------------------------------------------------------------------------

using Plain = nlohmann::json; // valijson reads this one only

/// Keywords whose members are names chosen by the schema's author, not keywords.
constexpr std::array name_maps{"properties", "definitions", "dependencies"};
/// Keywords whose members are values, not schemas.
constexpr std::array value_keywords{"enum", "const", "default", "examples"};
/// Keywords that valijson hands to std::regex, which recurses once per character.
constexpr std::array forbidden{"pattern", "patternProperties", "format"};

template <std::size_t N>
bool contains(const std::array<const char*, N>& words, const std::string& word) {
    return std::ranges::any_of(words, [&](const char* w) { return word == w; });
}

/// The first forbidden keyword in a schema, or "". As deep as the schema, which the parser limits.
// NOLINTNEXTLINE(misc-no-recursion)
std::string forbidden_keyword(const Value& schema, bool names = false) {
    if (!schema.is_structured()) return {};
    for (const auto& item : schema.items()) {
        const bool keyword = schema.is_object() && !names;
        if (keyword && contains(forbidden, item.key())) return item.key();
        if (keyword && contains(value_keywords, item.key())) continue;
        if (auto found =
                forbidden_keyword(item.value(), keyword && contains(name_maps, item.key()));
            !found.empty())
            return found;
    }
    return {};
}

/// The step from `at` that valijson names "[cases]" or "[2]". Keys and indices look alike, so the value
/// says which it is. Moves `at` on; nothing where there is no such place.
std::optional<Step> step_from(const Value*& at, std::string_view name) {
    name = name.substr(1, name.size() - 2);
    if (name.size() >= 2 && name.front() == '"') name = name.substr(1, name.size() - 2);
    if (at->is_object()) {
        const auto member = at->find(name);
        if (member == at->end()) return {};
        at = &*member;
        return Step{.key = std::string{name}};
    }
    std::size_t index = 0;
    const std::span<const char> digits{name};
    std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (!at->is_array() || index >= at->size()) return {};
    at = &(*at)[index];
    return Step{.index = index};
}

/// valijson's context: "<root>", and a step for each level below.
Path path_of(const std::vector<std::string>& context, const Value& root) {
    Path path;
    const Value* at = &root;
    for (const std::string& name : context) {
        if (name.size() < 2 || name.front() != '[') continue; // <root>
        auto step = step_from(at, name);
        if (!step) break;
        path.push_back(*std::move(step));
    }
    return path;
}

/// The deepest error: the ones above it only say that something below is wrong.
std::string explain_deepest(valijson::ValidationResults& results, const Value& value,
                            const Value& schema, std::string_view source) {
    valijson::ValidationResults::Error error;
    valijson::ValidationResults::Error deepest;
    for (bool first = true; results.popError(error); first = false)
        if (first || error.context.size() > deepest.context.size()) deepest = error;
    return explain(value, schema, path_of(deepest.context, value), deepest.description, source);
}

} // namespace

struct Schema::Compiled {
    Value text;
    std::string fault; ///< begins with what it says of a source
    valijson::Schema schema;
};

Schema::Schema(const Value& schema) : compiled_{std::make_unique<Compiled>()} {
    compiled_->text = schema;
    if (const auto keyword = forbidden_keyword(schema); !keyword.empty()) {
        compiled_->fault = fmt::format("uses `{}`: std::regex, which runs it, ends the process on "
                                       "long strings",
                                       keyword);
        return;
    }
    try {
        const Plain plain = schema;
        valijson::SchemaParser parser{valijson::SchemaParser::kDraft7};
        parser.populateSchema(valijson::adapters::NlohmannJsonAdapter{plain}, compiled_->schema);
    } catch (const std::exception& error) {
        compiled_->fault = fmt::format("cannot be used: {}", error.what());
    }
}

Schema::~Schema() = default;

Result<void> Schema::check(const Value& value, std::string_view source) const try {
    if (!compiled_->fault.empty())
        return fail(fmt::format("the schema for {} {}", source, compiled_->fault));
    const Plain plain = value;
    const valijson::adapters::NlohmannJsonAdapter target{plain};
    valijson::Validator validator{valijson::Validator::kStrongTypes};
    valijson::ValidationResults results;
    if (validator.validate(compiled_->schema, target, &results)) return {};
    return fail(explain_deepest(results, value, compiled_->text, source));
} catch (const std::exception& error) {
    return fail(fmt::format("the schema for {} cannot be used: {}", source, error.what()));
}

Result<void> check_schema(const Value& value, const Value& schema, std::string_view source) {
    return Schema{schema}.check(value, source);
}

} // namespace assay::json
