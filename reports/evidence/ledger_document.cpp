// SPDX-License-Identifier: Apache-2.0

#include "evidence/ledger.hpp"
#include "language/language.hpp"
#include "language/texts/evidence.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace assay::report {
namespace {

using namespace document;

constexpr std::size_t shown = 3; // of a list in a cell

std::string node_name(const LedgerEntry& entry) {
    return plain(entry.host.empty() ? entry.machine : entry.host, 60);
}

std::string causes_in_words(const LedgerEntry& entry) {
    std::vector<std::string> causes;
    for (const auto& cause : entry.causes) {
        auto text = cause.about.empty()
                        ? plain(cause.cause)
                        : fmt::format("{} {}", plain(cause.cause), plain(cause.about, 60));
        if (std::ranges::find(causes, text) == causes.end()) causes.push_back(std::move(text));
    }
    return list_of(causes, shown);
}

Tone tone_of(const LedgerEntry& entry) {
    if (entry.verdict == "PASS") return Tone::good;
    return entry.verdict == "FAIL" ? Tone::bad : Tone::weak;
}

const LedgerPart* part_of(const LedgerEntry& entry, const std::string& id) {
    const auto found = std::ranges::find(entry.parts, id, &LedgerPart::id);
    return found == entry.parts.end() ? nullptr : &*found;
}

/// Where one thing was, the oldest first.
Table history_of(const std::vector<LedgerEntry>& entries, const std::string& about,
                 std::size_t& moves) {
    Table table{.columns = {{.title = say<text::evidence::measured>()},
                            {.title = say<text::evidence::node>()},
                            {.title = say<text::evidence::place>(), .rank = 2},
                            {.title = say<text::evidence::repaired>()},
                            {.title = say<text::evidence::verdict>()},
                            {.title = say<text::evidence::found>()},
                            {.title = say<text::evidence::moved>(), .rank = 1}},
                .sheet = say<text::evidence::ledger>()};
    const LedgerEntry* before = nullptr; // that had the part
    for (const auto& entry : entries) {
        const auto* const part = part_of(entry, about);
        const bool moved = part != nullptr && before != nullptr && before->machine != entry.machine;
        const bool left = part == nullptr && before != nullptr;
        moves += moved ? 1 : 0;
        table.rows.push_back(
            {.cells = {{.text = plain(entry.measured)},
                       {.text = node_name(entry)},
                       {.text = part != nullptr ? plain(part->where) : std::string{}},
                       {.text = plain(entry.repair, 100)},
                       {.text = plain(entry.verdict), .tone = tone_of(entry)},
                       {.text = causes_in_words(entry)},
                       {.text = moved  ? say<text::evidence::from>(node_name(*before))
                                : left ? say<text::evidence::left>()
                                       : "",
                        .tone = Tone::weak}}});
        if (part != nullptr) before = &entry;
    }
    return table;
}

struct PartHistory {
    LedgerPart part;
    std::set<std::string> nodes;
    std::size_t not_passed = 0;
    const LedgerEntry* last = nullptr;
};

Table parts_of(const std::vector<LedgerEntry>& entries, std::size_t& count) {
    Table table{.columns = {{.title = say<text::evidence::part>()},
                            {.title = say<text::evidence::kind>()},
                            {.title = say<text::evidence::nodes>(), .numeric = true},
                            {.title = say<text::evidence::not_passed>(), .numeric = true},
                            {.title = say<text::evidence::last_node>()},
                            {.title = say<text::evidence::measured>(), .rank = 1},
                            {.title = say<text::evidence::verdict>()}},
                .sheet = say<text::evidence::ledger>()};
    std::map<std::pair<std::string, std::string>, PartHistory> parts;
    for (const auto& entry : entries)
        for (const auto& part : entry.parts) {
            auto& known = parts[{part.kind, part.id}];
            known.part = part;
            known.nodes.insert(entry.machine);
            known.not_passed += entry.verdict == "PASS" ? 0 : 1;
            known.last = &entry; // entries are in the order of time
        }
    std::vector<const PartHistory*> order;
    for (const auto& [key, part] : parts) order.push_back(&part);
    std::ranges::stable_sort(order, [](const PartHistory* a, const PartHistory* b) {
        if (a->not_passed != b->not_passed) return a->not_passed > b->not_passed;
        return a->last->measured > b->last->measured;
    });
    for (const auto* one : order)
        table.rows.push_back(
            {.cells = {{.text = plain(one->part.id, 60)},
                       {.text = plain(one->part.kind)},
                       {.text = std::to_string(one->nodes.size()),
                        .number = static_cast<double>(one->nodes.size()),
                        .unit = unit_count},
                       {.text = std::to_string(one->not_passed),
                        .number = static_cast<double>(one->not_passed),
                        .unit = unit_count},
                       {.text = node_name(*one->last)},
                       {.text = plain(one->last->measured)},
                       {.text = plain(one->last->verdict), .tone = tone_of(*one->last)}}});
    count = parts.size();
    return table;
}

} // namespace

Document make_document(const std::vector<LedgerEntry>& entries, const std::string& about) {
    const auto name = plain(about, 60);
    Document document{.kind = "ledger",
                      .kicker = say<text::evidence::ledger>(),
                      .title = about.empty() ? say<text::evidence::all_parts>()
                                             : say<text::evidence::where_was>(name)};
    std::size_t count = 0;
    auto table = about.empty() ? parts_of(entries, count) : history_of(entries, about, count);
    if (about.empty()) {
        document.verdict = count > 0 ? say_count<text::evidence::parts_seen>(count)
                                     : say<text::evidence::no_parts>();
    } else if (entries.empty()) {
        document.verdict = say<text::evidence::never_seen>(name);
    } else {
        // Of a part, where it was; of a node, all.
        std::vector<const LedgerEntry*> own;
        for (const auto& entry : entries)
            if (part_of(entry, about) != nullptr) own.push_back(&entry);
        if (own.empty())
            for (const auto& entry : entries) own.push_back(&entry);
        const auto bad = static_cast<std::size_t>(std::ranges::count_if(
            own, [](const LedgerEntry* entry) { return entry->verdict != "PASS"; }));
        std::vector<std::string> parts{say_count<text::evidence::seen>(own.size(), name)};
        if (bad > 0) parts.push_back(say_count<text::evidence::times_bad>(bad));
        if (count > 0) parts.push_back(say_count<text::evidence::moves>(count));
        document.verdict = sentences(parts);
        document.tone = tone_of(*own.back());
    }
    if (!table.rows.empty())
        document.sections.push_back(
            {.title = say<text::evidence::occasions>(), .blocks = {std::move(table)}});
    return document;
}

} // namespace assay::report
