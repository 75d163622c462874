// SPDX-License-Identifier: Apache-2.0

#include "evidence/ledger.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "evidence/derived.hpp"
#include "evidence/tree.hpp"
#include "json/canonical.hpp"
#include "record/reader.hpp"
#include "record/same_machine.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

namespace assay::report {
namespace {

constexpr const char* ledger_schema = "assay.ledger/1";
constexpr std::size_t most_bytes = std::size_t{1} << 30U; // a million nodes
const std::string no_head(64, '0');

std::string digest_of(json::Value line) {
    line.erase("digest");
    return to_hex(sha256(json::to_canonical(line)));
}

bool is_hidden(const std::string& text) { return hidden_in(json::Value(text)).has_value(); }

std::vector<LedgerPart> parts_of(const record::Machine& machine) {
    std::vector<LedgerPart> parts;
    const auto add = [&](const std::string& kind, const std::string& where, const std::string& id,
                         const std::string& name) {
        const auto known = [&](const LedgerPart& part) {
            return part.kind == kind && part.id == id;
        };
        if (id.empty() || is_hidden(id) || std::ranges::any_of(parts, known)) return;
        parts.push_back(
            {plain(kind), is_hidden(where) ? "" : plain(where), plain(id), plain(name)});
    };
    for (const auto& device : machine.devices) {
        const auto part = record::part_id(device); // slices of a device share its fate
        add("device", device.pci_address, part.empty() ? device.uuid : part, device.name);
    }
    for (const auto& serial : machine.identity.serials) {
        const auto of =
            std::ranges::find(machine.devices, serial.where, &record::Device::pci_address);
        add(serial.kind, serial.where, serial.text.empty() ? serial.keyed : serial.text,
            serial.kind == "device" && of != machine.devices.end() ? of->name : "");
    }
    return parts;
}

std::vector<LedgerCause> causes_of(const json::Value& node) {
    std::vector<LedgerCause> causes;
    constexpr std::size_t most = 20; // of a node of which all is wrong
    const auto checks = node.find("checks");
    if (checks == node.end() || !checks->is_array()) return causes;
    for (const auto& check : *checks) {
        const auto cause = member_text(check, "cause");
        const auto verdict = member_text(check, "verdict");
        if (cause.empty() || verdict == "PASS" || verdict == "SKIP" || causes.size() == most)
            continue;
        const auto of = check.value("case", json::Value{});
        auto about = member_text(of, "benchmark");
        if (const auto parameters = member_text(of, "parameters"); !parameters.empty())
            about = fmt::format("{} {}", about, parameters);
        causes.push_back({member_text(check, "id"), cause, about});
    }
    return causes;
}

bool same_occasion(const LedgerEntry& a, const LedgerEntry& b) {
    return std::tie(a.machine, a.campaign, a.runs, a.verdict) ==
           std::tie(b.machine, b.campaign, b.runs, b.verdict);
}

bool holds(const LedgerEntry& entry, std::string_view id) {
    return std::ranges::find(entry.parts, id, &LedgerPart::id) != entry.parts.end();
}

bool share_a_part(const LedgerEntry& a, const LedgerEntry& b) {
    return std::ranges::any_of(a.parts, [&](const LedgerPart& part) {
        return std::ranges::any_of(b.parts, [&](const LedgerPart& other) {
            return part.kind == other.kind && part.id == other.id;
        });
    });
}

} // namespace

std::string_view to_string(LedgerCode code) {
    switch (code) {
    case LedgerCode::unreadable:
        return "unreadable";
    case LedgerCode::changed:
        return "changed";
    case LedgerCode::out_of_chain:
        return "out_of_chain";
    case LedgerCode::half_a_line:
        return "half_a_line";
    case LedgerCode::no_such_head:
        break;
    }
    return "no_such_head";
}

Result<Ledger> read_ledger(const std::filesystem::path& file, std::string_view head) {
    const auto content = read_whole(file, most_bytes);
    if (!content) return tl::unexpected{content.error()};
    Ledger ledger{.head = no_head};
    std::set<std::string, std::less<>> heads{no_head};
    std::string_view text = *content;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const auto line = text.substr(0, end);
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        const auto add = [&](LedgerCode code, std::string more = {}) {
            ledger.findings.push_back({code, number, std::move(more)});
        };
        if (end == text.npos || end == std::string_view::npos) {
            add(LedgerCode::half_a_line);
            break;
        }
        const auto source = fmt::format("{}:{}", file.string(), number);
        const auto value = json::parse(line, source);
        if (!value) {
            add(LedgerCode::unreadable, value.error().message);
            continue;
        }
        auto entry = json::read<LedgerEntry>(*value, source);
        if (!entry || entry->schema != ledger_schema) {
            add(LedgerCode::unreadable,
                entry ? fmt::format("its schema is not {}", ledger_schema) : entry.error().message);
            continue;
        }
        if (digest_of(*value) != entry->digest) add(LedgerCode::changed);
        if (entry->previous != ledger.head || entry->number != number)
            add(LedgerCode::out_of_chain);
        ledger.head = entry->digest;
        heads.insert(entry->digest);
        ledger.entries.push_back(std::move(*entry));
    }
    if (!head.empty() && !heads.contains(head))
        ledger.findings.push_back({LedgerCode::no_such_head, 0, std::string{head}});
    return ledger;
}

Result<std::vector<LedgerEntry>> entries_of(const json::Value& verdict,
                                            const std::filesystem::path& folder) {
    std::vector<LedgerEntry> entries;
    for (const auto& node : verdict.at("nodes")) {
        LedgerEntry entry{.schema = ledger_schema,
                          .machine = member_text(node, "machine"),
                          .campaign = member_text(node, "campaign"),
                          .repair = member_text(node, "repair"),
                          .verdict = member_text(node, "verdict"),
                          .causes = causes_of(node)};
        for (const auto& path : node.at("runs")) {
            const auto run = record::read_run(folder / path.get<std::string>(), {.values = false});
            if (!run) return tl::unexpected{run.error()};
            entry.runs.push_back(plain(run->id));
            entry.measured = plain(run->started); // the newest is the last
            entry.host = is_hidden(run->machine.hostname) ? "" : plain(run->machine.hostname);
            if (entry.host.empty()) entry.host = plain(record::node_name(run->machine));
            entry.parts = parts_of(run->machine);
        }
        if (is_hidden(entry.repair)) entry.repair.clear();
        entries.push_back(std::move(entry));
    }
    return entries;
}

Result<AddedToLedger> add_to_ledger(const std::filesystem::path& file,
                                    std::vector<LedgerEntry> entries, const std::string& now) {
    auto lines = LineFile::open(file); // nobody else writes from here on
    if (!lines) return tl::unexpected{lines.error()};
    auto ledger = read_ledger(file);
    if (!ledger) return tl::unexpected{ledger.error()};
    if (!ledger->findings.empty())
        return fail(
            fmt::format("{} does not hold (line {}: {}), so nothing is added; `assay ledger "
                        "verify --ledger {}` says more",
                        file.string(), ledger->findings.front().line,
                        to_string(ledger->findings.front().code), file.string()),
            Fault::benchmark);
    AddedToLedger done{.head = ledger->head};
    for (auto& entry : entries) {
        const auto known = [&](const LedgerEntry& other) { return same_occasion(entry, other); };
        if (std::ranges::any_of(ledger->entries, known)) {
            ++done.known;
            continue;
        }
        for (const auto& other : ledger->entries)
            if (share_a_part(entry, other) &&
                (other.machine != entry.machine || other.verdict != "PASS"))
                done.before.push_back(other);
        entry.number = ledger->entries.size() + 1;
        entry.previous = done.head;
        entry.added = now;
        auto line = json::encode(entry);
        entry.digest = digest_of(line);
        line["digest"] = entry.digest;
        if (auto added = lines->add(json::to_line(line)); !added)
            return tl::unexpected{added.error()};
        done.head = entry.digest;
        ++done.added;
        ledger->entries.push_back(std::move(entry));
    }
    return done;
}

std::vector<LedgerEntry> entries_about(const Ledger& ledger, std::string_view about) {
    auto all = ledger.entries;
    std::ranges::stable_sort(all, {}, &LedgerEntry::measured);
    std::vector<LedgerEntry> entries;
    std::set<std::string> had; // machines that have the part
    for (auto& entry : all) {
        const bool has = !about.empty() && holds(entry, about);
        const bool left = !has && had.erase(entry.machine) > 0;
        if (has) had.insert(entry.machine);
        if (about.empty() || has || left || entry.machine == about || entry.host == about)
            entries.push_back(std::move(entry));
    }
    return entries;
}

json::Value to_json(const std::vector<LedgerEntry>& entries, const std::string& head) {
    json::Value list = json::Value::array();
    for (const auto& entry : entries) list.push_back(json::encode(entry));
    return {{"schema", "assay.ledger_view/1"}, {"head", head}, {"entries", std::move(list)}};
}

} // namespace assay::report
