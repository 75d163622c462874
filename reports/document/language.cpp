// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"

#include "document/texts.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace assay::document {
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

using Values = std::array<std::string_view, 10>;

/// Is `text` the pattern with something at its places {0}, {1}, ...? `values` gets them.
bool fits(std::string_view pattern, std::string_view text, Values& values) {
    while (true) {
        const auto place = pattern.find('{');
        const auto before = pattern.substr(0, place);
        if (!text.starts_with(before)) return false;
        text.remove_prefix(before.size());
        if (place == std::string_view::npos) return text.empty();
        auto& value = values.at(static_cast<std::size_t>(pattern[place + 1] - '0'));
        pattern.remove_prefix(place + 3);
        const auto next = pattern.substr(0, pattern.find('{'));
        const auto end = next.empty() ? text.size() : text.find(next);
        if (end == std::string_view::npos || end == 0) return false;
        value = text.substr(0, end);
        text.remove_prefix(end);
    }
}

std::string with_values(std::string_view text, const Values& values) {
    std::string out;
    for (auto at = text.find('{'); at != text.npos; at = text.find('{')) {
        out += text.substr(0, at);
        out += translated(values.at(static_cast<std::size_t>(text[at + 1] - '0')));
        text.remove_prefix(at + 3);
    }
    return out.append(text);
}

/// The most specific of the patterns that fit.
std::optional<std::string> find_sentence(std::string_view sentence) {
    const Entry* best = nullptr;
    Values of_best;
    for (const Entry* entry : text::all) {
        if (!std::string_view{entry->id}.starts_with("said.")) continue;
        const std::string_view pattern{entry->en};
        if (best != nullptr && pattern.size() <= std::string_view{best->en}.size()) continue;
        Values values;
        if (!fits(pattern, sentence, values)) continue;
        best = entry;
        of_best = values;
    }
    return best == nullptr ? std::nullopt : std::optional{with_values(best->zh, of_best)};
}

} // namespace

void use_language(Language chosen) { language = chosen; }
Language language_in_use() { return language; }

std::optional<std::string_view> find_text(std::string_view area, std::string_view name) {
    const std::string id = fmt::format("{}.{}", area, name);
    const auto found = std::ranges::lower_bound(by_id(), std::string_view{id}, std::less{}, id_of);
    if (found == by_id().end() || id_of(*found) != id) return std::nullopt;
    return language == Language::zh ? (*found)->zh : (*found)->en;
}

std::string translated(std::string_view sentence) {
    if (language == Language::en || sentence.empty()) return std::string{sentence};
    if (auto whole = find_sentence(sentence)) return *std::move(whole);
    constexpr std::string_view joint = "; ";
    const auto end = sentence.find(joint);
    if (end == sentence.npos) return std::string{sentence};
    const auto rest = sentence.substr(end + joint.size());
    const auto first = find_sentence(sentence.substr(0, end));
    const auto others = translated(rest);
    if (!first && others == rest) return std::string{sentence};
    return first.value_or(std::string{sentence.substr(0, end)}) + say<text::list::semicolon>() +
           others;
}

} // namespace assay::document
