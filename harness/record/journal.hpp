// SPDX-License-Identifier: Apache-2.0
//
// The journal of a run: one line of JSON for each finished step, on disk before the next one begins,
// so that whatever kills us costs one step. It is only ever appended to. A last line without its
// newline was being written when we died: it is ignored, and cut off when we go on. Any other damage
// is an error that names the line.
//
// Line 1 is the header; each other line is {"case": index in the plan, "result": a Case}, the case with
// the one replica that the step measured, or none where it could not be measured at all.

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

inline constexpr std::string_view journal_schema_name = "assay.journal/1";

struct JournalHeader {
    std::string run; ///< id
    std::string suite;
    std::string started;
    std::string version;            ///< of assay
    std::string digest;             ///< of plan and modules
    std::string machine;            ///< id
    std::optional<Pairing> pairing; ///< absent unless the run takes turns with others
    bool operator==(const JournalHeader&) const = default;
};

struct JournalStep {
    std::uint64_t case_index = 0; ///< in the plan's order
    Case result;
};

struct JournalContent {
    /// Absent when we died while writing the first line: nothing had been measured then.
    std::optional<JournalHeader> header;
    std::vector<JournalStep> steps;
    std::uint64_t bytes = 0; ///< of whole lines
};

/// `limit`: the most bytes that are read.
Result<JournalContent> read_journal(const std::filesystem::path& path,
                                    std::size_t limit = std::size_t{1} << 30U);
Result<JournalContent> parse_journal(std::string_view text, std::string_view source);

/// An open journal. While one is open, opening it again fails, from this process or another.
class Journal {
public:
    /// A new one; fails when the file is there and has a whole line.
    static Result<Journal> create(const std::filesystem::path& path, const JournalHeader& header);
    /// Goes on after the last whole line of `content`, which was read from the same path.
    static Result<Journal> resume(const std::filesystem::path& path, const JournalContent& content);

    /// On disk when it returns. After an error (a full disk), the journal is as it was before.
    Result<void> add(const JournalStep& step);

private:
    explicit Journal(LineFile file) : file_{std::move(file)} {}
    LineFile file_;
};

/// Adds what a step found to the case it belongs to: the replica (in place of an earlier one with its
/// index), settings, work, warnings. A verification that failed is never replaced by one that passed.
void add_step(Case& into, Case step);

} // namespace assay::record
