// SPDX-License-Identifier: Apache-2.0

#include "language/language.hpp"

#include <algorithm>
#include <functional>

namespace assay::report {
namespace {

Language language = Language::en;

constexpr std::string_view id_of(const Entry* entry) { return entry->id; }

/// Sorted when first asked for: compilers give up on sorting this many while they compile.
const auto& by_id() {
    static const auto sorted = [] {
        auto entries = text::all;
        std::ranges::sort(entries, std::less{}, id_of);
        return entries;
    }();
    return sorted;
}

} // namespace

std::string_view to_string(Language name) { return name == Language::zh ? "zh" : "en"; }

std::optional<Language> language_from(std::string_view name) {
    if (name == "en") return Language::en;
    if (name == "zh") return Language::zh;
    return std::nullopt;
}

void use_language(Language chosen) { language = chosen; }
Language language_in_use() { return language; }

std::optional<std::string_view> find_text(std::string_view area, std::string_view name) {
    const std::string id = fmt::format("{}.{}", area, name);
    const auto found = std::ranges::lower_bound(by_id(), std::string_view{id}, std::less{}, id_of);
    if (found == by_id().end() || id_of(*found) != id) return std::nullopt;
    return language == Language::zh ? (*found)->zh : (*found)->en;
}

} // namespace assay::report
