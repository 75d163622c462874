// SPDX-License-Identifier: Apache-2.0
//
// The journal of a run: one line of JSON for each finished step, on disk before the next one begins,
// so that a crash costs at most one step. It is append-only. A last line without its newline was
// incomplete when the process died: it is ignored, and removed when the run continues. Any other line that is
// damaged is named and left out; it stays in the file, and the others count, as each stands alone. Without a sound
// first line there is no journal.
//
// Line 1 is the header, with the machine as it was when the run began; each other line is {"case": index in the plan, "result": a Case}, the case with
// the replica that the step measured, or none if it could not be measured. The last key of each line is "crc": the
// CRC-32 of the bytes before its comma, as 8 hexadecimal digits. Journals of version 1 have none.

#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::record {

inline constexpr std::string_view journal_file = "journal.ndjson";
inline constexpr std::string_view journal_schema_name = "assay.journal/2";
inline constexpr std::string_view first_journal_schema_name = "assay.journal/1"; ///< read as well

struct JournalHeader {
    std::string run; ///< id
    std::string suite;
    std::string started;
    std::string version;              ///< of assay
    std::string digest;               ///< of plan and modules
    std::string machine;              ///< id
    std::optional<int> replicas;      ///< planned; absent in journals of version 1, as modules are
    Values modules;                   ///< of the plan, and their build ids
    std::optional<Pairing> pairing;   ///< absent unless the run is interleaved with others
    std::optional<std::int64_t> seed; ///< of the order of the cases; absent: that of the plan
    Remark campaign;
    Remark note;
    Values tags;
    std::optional<int> cases; ///< planned; absent in older journals
    bool operator==(const JournalHeader&) const = default;
};

struct JournalStep {
    std::uint64_t case_index = 0; ///< in the plan's order
    Case result;
};

struct JournalContent {
    /// Absent if the process died while writing the first line: nothing was measured.
    std::optional<JournalHeader> header;
    std::optional<Machine> machine; ///< absent in older journals
    std::vector<JournalStep> steps;
    std::size_t damaged = 0;  ///< lines
    std::string first_damage; ///< "journal.ndjson: line 7: damaged: checksum differs"
    std::uint64_t bytes = 0;  ///< of whole lines
};

/// `limit`: bytes to read at most.
Result<JournalContent> read_journal(const std::filesystem::path& path,
                                    std::size_t limit = std::size_t{1} << 30U);
Result<JournalContent> parse_journal(std::string_view text, std::string_view source);

/// An open journal. While it is open, opening it again fails, in this process or another.
class Journal {
public:
    /// A new one; fails if the file exists and has a complete line.
    static Result<Journal> create(const std::filesystem::path& path, const JournalHeader& header,
                                  const std::optional<Machine>& machine = {});
    /// Continues after the last complete line of `content`, which was read from the same path.
    static Result<Journal> resume(const std::filesystem::path& path, const JournalContent& content);

    /// On disk when it returns. After an error (a full disk), the journal is as it was before.
    Result<void> add(const JournalStep& step);

private:
    explicit Journal(LineFile file) : file_{std::move(file)} {}
    LineFile file_;
};

/// The run of a journal whose process died before it wrote a result: interrupted, with the replicas that were measured.
/// Cases that had not begun are not in it. Fails where a process here still writes the journal, and where it has no header.
Result<Run> read_ended_run(const std::filesystem::path& path,
                           std::size_t limit = std::size_t{1} << 30U);
/// The same from memory.
Run run_of(JournalContent content);

/// At most 100 of them, each once, and 64 KiB in all; the last one says where more were left out.
void add_warning(std::vector<std::string>& warnings, std::string warning);

/// Adds the result of a step to its case: the replica (replacing an earlier one with its index), settings,
/// work, warnings. A failed verification is never replaced by one that passed.
void add_step(Case& into, Case step);

} // namespace assay::record
