// SPDX-License-Identifier: Apache-2.0
#include "reference/catalog.hpp"

#include "base/text.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace assay::reference {
namespace {

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_gap(char c) {
    constexpr std::string_view gaps = " -_.,/()\t";
    return gaps.find(c) != std::string_view::npos;
}

/// Without case, and without what people leave out or put between words.
std::string folded(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (!is_gap(c)) out += small(c);
    return out;
}

std::set<std::string> words_of(std::string_view text) {
    std::set<std::string> words;
    std::string word;
    for (const char c : text) {
        if (!is_gap(c)) {
            word += small(c);
            continue;
        }
        if (!word.empty()) words.insert(word);
        word.clear();
    }
    if (!word.empty()) words.insert(word);
    return words;
}

/// Everything that an entry may be called in full.
std::vector<std::string> names_of(const Hardware& hardware, const CatalogEntry& entry) {
    std::vector<std::string> names{entry.sheet->id, entry.sheet->name};
    names.insert(names.end(), entry.sheet->names.begin(), entry.sheet->names.end());
    if (entry.instance == nullptr) return names;
    for (const auto& provider : hardware.providers) {
        if (provider.id != entry.instance->provider) continue;
        names.push_back(provider.name + ' ' + entry.instance->type);
        for (const auto& alias : provider.aliases)
            names.push_back(alias + ' ' + entry.instance->type);
    }
    return names;
}

bool has_words(const CatalogEntry& entry, const std::set<std::string>& words) {
    auto own = words_of(entry.sheet->id + ' ' + entry.sheet->name);
    for (const auto& name : entry.sheet->names) own.merge(words_of(name));
    return std::ranges::includes(own, words);
}

template <class Entry>
const Entry* by_id(const std::vector<Entry>& entries, std::string_view id) {
    const auto found = std::ranges::find(entries, id, &Entry::id);
    return found == entries.end() ? nullptr : &*found;
}

} // namespace

std::vector<CatalogEntry> entries_of(const Hardware& hardware, std::optional<Kind> kind) {
    std::vector<CatalogEntry> all;
    const auto wanted = [&](Kind one) { return !kind || *kind == one; };
    if (wanted(Kind::instance))
        for (const auto& entry : hardware.instances)
            all.push_back({.kind = Kind::instance, .sheet = &entry.sheet, .instance = &entry});
    if (wanted(Kind::processor))
        for (const auto& entry : hardware.processors)
            all.push_back({.kind = Kind::processor, .sheet = &entry.sheet, .processor = &entry});
    if (wanted(Kind::accelerator))
        for (const auto& entry : hardware.entries)
            all.push_back(
                {.kind = Kind::accelerator, .sheet = &entry.sheet, .accelerator = &entry});
    if (wanted(Kind::network_card))
        for (const auto& entry : hardware.network_cards)
            all.push_back(
                {.kind = Kind::network_card, .sheet = &entry.sheet, .network_card = &entry});
    return all;
}

std::vector<CatalogEntry> entries_like(const Hardware& hardware, std::string_view text,
                                       std::optional<Kind> kind) {
    const auto all = entries_of(hardware, kind);
    const auto only = [&](auto&& fits) {
        std::vector<CatalogEntry> found;
        std::ranges::copy_if(all, std::back_inserter(found), fits);
        return found;
    };
    if (const auto exact = only([&](const auto& entry) { return entry.sheet->id == text; });
        !exact.empty())
        return exact;
    const auto whole = folded(text);
    if (auto found = only([&](const auto& entry) {
            return std::ranges::any_of(names_of(hardware, entry),
                                       [&](const auto& name) { return folded(name) == whole; });
        });
        !found.empty() || whole.empty())
        return found;
    const auto words = words_of(text);
    // Types of instances have the names of their GPUs in them: those are what is meant.
    auto found = only(
        [&](const auto& entry) { return entry.kind != Kind::instance && has_words(entry, words); });
    if (!found.empty()) return found;
    return only([&](const auto& entry) { return has_words(entry, words); });
}

std::string list_of(const std::vector<CatalogEntry>& entries) {
    constexpr std::size_t shown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, entries.size()); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", entries[i].sheet->id);
    if (entries.size() > shown) text += fmt::format(" and {} more", entries.size() - shown);
    return text;
}

Result<CatalogEntry> entry_named(const Hardware& hardware, std::string_view text,
                                 std::optional<Kind> kind) {
    const auto found = entries_like(hardware, text, kind);
    if (found.size() == 1) return found.front();
    if (!found.empty())
        return fail(fmt::format("{} matches {} entries: {}; give one of them",
                                json::show_text(text), found.size(), list_of(found)));
    std::vector<std::string> names;
    for (const auto& entry : entries_of(hardware, kind)) {
        names.push_back(entry.sheet->id);
        names.push_back(entry.sheet->name);
    }
    const auto near = nearest(text, names);
    return fail(fmt::format(
        "the catalogue has no {}{}; `assay catalog show` lists all", json::show_text(text),
        near.empty() ? "" : fmt::format(" (did you mean {}?)", json::show_text(near))));
}

std::string provider_id(const Hardware& hardware, std::string_view text) {
    auto name = folded(text);
    for (const auto& provider : hardware.providers)
        if (folded(provider.id) == name || folded(provider.name) == name ||
            std::ranges::any_of(provider.aliases,
                                [&](const auto& alias) { return folded(alias) == name; }))
            return provider.id;
    return name;
}

const InstanceEntry* find_instance(const Hardware& hardware, std::string_view provider,
                                   std::string_view type) {
    const auto id = provider_id(hardware, provider);
    const auto found = std::ranges::find_if(hardware.instances, [&](const auto& entry) {
        return entry.provider == id && std::ranges::equal(entry.type, type, {}, small, small);
    });
    return found == hardware.instances.end() ? nullptr : &*found;
}

const HardwareEntry* find_accelerator(const Hardware& hardware, std::string_view id) {
    return by_id(hardware.entries, id);
}
const ProcessorEntry* find_processor(const Hardware& hardware, std::string_view id) {
    return by_id(hardware.processors, id);
}

} // namespace assay::reference
