// SPDX-License-Identifier: Apache-2.0
//
// Makes text that came out of a result file safe to show anywhere. Result files travel between people
// and companies: a label may hold escape sequences, control characters or broken UTF-8. Everything that
// enters the view model goes through plain(); the renderers only add the quoting of their own format.

#pragma once

#include "base/console.hpp"
#include "record/model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::document {

using assay::plain;

/// An English sentence of the harness or a benchmark in the language in use, if the catalogue has it.
void translate(record::Run& run);

/// "a", "a and b", "a, b and 3 more", in the language in use.
std::string list_of(const std::vector<std::string>& items, std::size_t shown);

/// "n1 and n7", "node[07-40]", "n1, gpu[0-3] and 12 more": several nodes as ranges, cut so that the list fits a line.
std::string list_of_nodes(const std::vector<std::string>& names);

/// "fp64, size 1024, all threads": parts of one thing, with the commas of the language in use.
std::string join(const std::vector<std::string>& parts);

/// "Bandwidth" of "bandwidth", as a heading begins.
std::string capitalised(std::string text);

/// Whole sentences one after the other; Chinese has no blank between them.
std::string sentences(const std::vector<std::string>& parts);

/// With a full stop, where it has none: what others wrote, before a sentence of ours.
std::string as_sentence(std::string text);

/// "1.36 s", "4 min 50 s", "3 h 5 min", "2 days 4 h" of a length, whatever its sign.
std::string duration_in_words(double seconds);

// --- dates ---------------------------------------------------------------------------------------
// Days and quarters (UTC) of seconds since 1970.

std::int64_t day_of(double seconds);            ///< since 1970-01-01
std::string date_of(double seconds);            ///< "2026-04-02"
std::int64_t quarter_of(double seconds);        ///< 4 * year + 0..3
std::string quarter_name(std::int64_t quarter); ///< "2026 Q1"
/// Seconds of "2026-04-02"; nothing for an invalid date.
std::optional<double> seconds_of_date(std::string_view date);

} // namespace assay::document
