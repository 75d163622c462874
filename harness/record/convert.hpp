// SPDX-License-Identifier: Apache-2.0
//
// Records to JSON values: what the journal stores and what workers send; read back by json::read<T>.
// Reading reports the wrong key; unknown keys are ignored, except in `place`. In a NamedList numbers that
// are not finite are left out, and null is read as absent.

#pragma once

#include "base/result.hpp"
#include "json/codec.hpp"
#include "record/layout.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

template <class T>
json::Value to_json(const T& record) {
    return json::encode(record);
}
/// The whole document of run.json, its schema included.
json::Value to_json(const Run& run);

/// Text of run.json, with numbers that read back exactly.
std::string to_text(const Run& run);
/// Atomically.
Result<void> write_run(const std::filesystem::path& path, const Run& run);

/// Digests in run.json: SHA-256 of each section in its canonical form (json::to_canonical), so that a file that was
/// only formatted anew keeps them, and any other value, key or order of a list does not. They find damage. Anyone who
/// changes a file on purpose can compute them again: only a signature finds that.
struct Digests {
    std::string algorithm; ///< "sha256"
    std::string run;
    std::string machine;
    std::vector<std::string> cases; ///< one for each case
    std::string root;               ///< of the schema's name and the digests above
};

ASSAY_FIELDS(Digests, algorithm, run, machine, cases, root)

/// Digests of a document with schema, run, machine and cases; digests that it has are ignored.
Digests digests_of(const json::Value& document);

/// The expected `root`, from the other digests.
std::string root_of(const json::Value& document, const Digests& digests);

/// Stands in the place of a text that a redacted copy hides, in front of 64 digits.
inline constexpr std::string_view hidden_prefix = "redacted:sha256:";

/// The first section of a result that does not have its digest, as in "cases[2]"; "digests" where these are missing
/// though the version has them. Nothing where all hold, and in files of version 1. Looks at the text alone, which
/// the reader has found to be a result: for reading thousands of files. For all that is wrong: check_digests.
std::optional<std::string> stale_section(std::string_view text);

// --- plain ---------------------------------------------------------------------------------------
// Result files travel between people and companies: a text in one may hold escape sequences, control characters or
// broken UTF-8. The reader makes every text plain, so nothing behind it shows any other.

/// Every text as plain() of base/console.hpp makes it; optional numbers that are not finite are taken out.
void make_plain(Run& run);

} // namespace assay::record

/// A key more would be one that no digest covers.
template <>
inline constexpr bool assay::json::is_closed<assay::record::Digests> = true;
