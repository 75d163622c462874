// SPDX-License-Identifier: Apache-2.0
//
// A ledger of parts: which serial numbers were seen in which node, when, and how that node was judged. A file of lines
// (NDJSON, schema/ledger.json) that only grows: each line has its own digest and that of the line before. One process at a
// time writes.

#pragma once

#include "base/result.hpp"
#include "document/document.hpp"
#include "json/codec.hpp"
#include "record/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

struct LedgerPart {
    std::string kind;  ///< "product", "board", "device", "network", "storage"
    std::string where; ///< PCI address or name; may be empty
    std::string id;    ///< serial number, in clear or by the user's key, or UUID of a device
    std::string name;  ///< of a device: its model
};

struct LedgerCause {
    std::string check; ///< id of the limit or of what telemetry saw
    std::string cause; ///< code
    std::string about; ///< "gemm.square precision=fp64 size=1024"; may be empty
};

/// A node as it was judged.
struct LedgerEntry {
    std::string schema;
    std::uint64_t number = 0; ///< from 1
    std::string previous;     ///< digest of the line before; 64 zeros in the first
    std::string added;        ///< UTC
    std::string measured;     ///< UTC: start of the newest run
    std::string machine;      ///< id
    std::string host;         ///< name, where the results have it
    std::string campaign;
    std::vector<std::string> runs; ///< ids
    record::Remark repair; ///< what was repaired before these runs, as their tag says; may be empty
    std::string verdict;
    std::vector<LedgerCause> causes; ///< why it is not PASS
    std::vector<LedgerPart> parts;
    std::string digest; ///< SHA-256 of this line without it, in its canonical form
};

template <class Visit>
void each_field(Visit&& visit, Maybe<LedgerPart> auto& part) {
    visit("kind", part.kind);
    visit("where", part.where);
    visit("id", part.id);
    visit("name", part.name);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<LedgerCause> auto& cause) {
    visit("check", cause.check);
    visit("cause", cause.cause);
    visit("about", cause.about);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<LedgerEntry> auto& entry) {
    visit("schema", entry.schema);
    visit("number", entry.number);
    visit("previous", entry.previous);
    visit("added", entry.added);
    visit("measured", entry.measured);
    visit("machine", entry.machine);
    visit("host", entry.host);
    visit("campaign", entry.campaign);
    visit("runs", entry.runs);
    visit("repair", entry.repair);
    visit("verdict", entry.verdict);
    visit("causes", entry.causes);
    visit("parts", entry.parts);
    visit("digest", entry.digest);
}

/// For programs: these stay as they are.
enum class LedgerCode : std::uint8_t {
    unreadable,   // no line of a ledger
    changed,      // the line does not have its digest
    out_of_chain, // the line before is not the one it was written after
    half_a_line,  // the last one has no end: its writer was killed, or the file was cut
    no_such_head, // a digest that the ledger had once is not in it
};
std::string_view to_string(LedgerCode code);

struct LedgerFinding {
    LedgerCode code = LedgerCode::unreadable;
    std::size_t line = 0; ///< from 1; 0: of the whole
    std::string text;     ///< more, in English; may be empty
};

struct Ledger {
    std::vector<LedgerEntry> entries;
    std::vector<LedgerFinding> findings;
    std::string head; ///< digest of the last line; 64 zeros of an empty one
};
/// Fails where there is no such file. `head`: a digest that it must have had; may be empty.
Result<Ledger> read_ledger(const std::filesystem::path& file, std::string_view head = {});

/// Of the nodes in a verdict (schema assay.verdict/1), whose runs are files below `folder`. Serial numbers that are
/// hidden are not in it.
Result<std::vector<LedgerEntry>> entries_of(const json::Value& verdict,
                                            const std::filesystem::path& folder);

struct AddedToLedger {
    std::size_t added = 0;
    std::size_t known = 0; ///< nodes with these runs and this verdict that were in it
    std::string head;
    std::vector<LedgerEntry>
        before; ///< of parts that were seen before in another node, or in one that did not pass
};
/// Made where there is none. Fails where the ledger does not hold (Fault::benchmark), but for half a line at its end,
/// which is cut off.
Result<AddedToLedger> add_to_ledger(const std::filesystem::path& file,
                                    std::vector<LedgerEntry> entries, const std::string& now);

/// Of this serial number, device, machine or host, by the time they were measured; all where it is empty. Of a part that
/// left a node also how that node was judged next, without it: was that the repair?
std::vector<LedgerEntry> entries_about(const Ledger& ledger, std::string_view about);

/// Without `about` the parts, the last seen first; with it where it was, and how it went there.
document::Document make_document(const std::vector<LedgerEntry>& entries, const std::string& about);
json::Value to_json(const std::vector<LedgerEntry>& entries, const std::string& head);

} // namespace assay::report

template <>
inline constexpr bool assay::json::is_closed<assay::report::LedgerEntry> = true;
template <>
inline constexpr bool assay::json::is_closed<assay::report::LedgerPart> = true;
template <>
inline constexpr bool assay::json::is_closed<assay::report::LedgerCause> = true;
