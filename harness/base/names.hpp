// SPDX-License-Identifier: Apache-2.0
//
// Enumerations that are read, written or shown, with one list of their names:
//
//     ASSAY_ENUM(Shape, round, square)            // the enumeration, and what follows
//     ASSAY_NAMES(Shape, "ROUND, SQUARE")         // names other than those of the values, in their order
//
// make to_string(shape), from_text(text, shape), which is false for other texts, and names_of(shape), the list.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The name at this place of "round, square"; "?" beyond the end.
constexpr std::string_view name_at(std::string_view list, std::size_t index) {
    for (; index > 0; --index) {
        const auto comma = list.find(", ");
        if (comma == std::string_view::npos) return "?";
        list.remove_prefix(comma + 2);
    }
    return list.substr(0, list.find(", "));
}

template <class Enum>
constexpr bool find_name(std::string_view list, std::string_view name, Enum& out) {
    for (std::size_t index = 0;; ++index) {
        const auto comma = list.find(", ");
        if (list.substr(0, comma) == name) {
            out = static_cast<Enum>(index);
            return true;
        }
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 2);
    }
}

template <class Enum>
constexpr std::optional<Enum> value_named(std::string_view name) {
    Enum value{};
    return from_text(name, value) ? std::optional{value} : std::nullopt;
}

template <class Enum>
std::vector<Enum> all_values() {
    std::vector<Enum> all;
    for (auto value = Enum{}; to_string(value) != "?";
         value = static_cast<Enum>(static_cast<std::size_t>(value) + 1))
        all.push_back(value);
    return all;
}

template <class Enum>
std::vector<std::string> all_names(Enum /*any*/) {
    std::vector<std::string> all;
    for (const auto value : all_values<Enum>()) all.emplace_back(to_string(value));
    return all;
}

/// Expected in place of another text: "round or square", unless the
/// enumeration has an expected_text that says it better.
template <class Enum>
std::string expected_names(Enum value) {
    if constexpr (requires { expected_text(value); }) {
        return std::string{expected_text(value)};
    } else {
        std::string text{names_of(value)};
        return text.replace(text.rfind(", "), 2, " or ");
    }
}

} // namespace assay

#define ASSAY_ENUM(Enum, ...)                                                                      \
    enum class Enum : std::uint8_t { __VA_ARGS__ };                                                \
    ASSAY_NAMES(Enum, #__VA_ARGS__)

// A plain function from_text, for an enumeration with a rule of its own, goes before this one.
#define ASSAY_NAMES(Enum, list)                                                                    \
    constexpr std::string_view names_of(Enum /*any*/) { return list; }                             \
    constexpr std::string_view to_string(Enum value) {                                             \
        return ::assay::name_at(list, static_cast<std::size_t>(value));                            \
    }                                                                                              \
    constexpr bool from_text(std::string_view text, std::same_as<Enum> auto& out) {                \
        return ::assay::find_name(list, text, out);                                                \
    }
