// SPDX-License-Identifier: Apache-2.0
//
// The only file that includes valijson: it takes long to compile.
#include "json/explain.hpp"
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
#include <exception>
#include <optional>
#include <span>

namespace assay::json {
namespace {

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

Result<void> check_schema(const Value& value, const Value& schema, std::string_view source) try {
    if (const auto keyword = forbidden_keyword(schema); !keyword.empty())
        return fail(fmt::format("the schema for {} uses `{}`: std::regex, which runs it, ends the "
                                "process on long strings",
                                source, keyword));
    const Plain plain_schema = schema;
    valijson::Schema compiled;
    valijson::SchemaParser parser{valijson::SchemaParser::kDraft7};
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter{plain_schema}, compiled);

    const Plain plain_value = value;
    const valijson::adapters::NlohmannJsonAdapter target{plain_value};
    valijson::Validator validator{valijson::Validator::kStrongTypes};
    valijson::ValidationResults results;
    if (validator.validate(compiled, target, &results)) return {};
    return fail(explain_deepest(results, value, schema, source));
} catch (const std::exception& error) {
    return fail(fmt::format("the schema for {} cannot be used: {}", source, error.what()));
}

} // namespace assay::json
