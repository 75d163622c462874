// SPDX-License-Identifier: Apache-2.0
//
// Amounts with their units, as people write them.

#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay {

/// Suffixes of a whole number.
inline constexpr std::string_view multiples_text =
    "Ki, Mi, Gi, Ti, KiB, MiB, GiB, TiB, k, M, G or T";

/// "64MiB" or "64Mi" as 67108864, "2M" or "2e6" as 2000000; nothing if it is not a whole number with one of
/// `multiples_text`, or does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);
/// 580, 65, 6 of "580.65.06"; what follows the last number of "6.1.0-18-amd64" is left out. Nothing if it does not
/// begin with a number, or one has more than nine digits.
std::optional<std::vector<std::int64_t>> parse_version(std::string_view text);
/// "0.5"; nothing if anything follows the number.
std::optional<double> parse_real(std::string_view text);

/// Seconds of "90", "90s", "15m", "1h", "20ms".
Result<double> parse_duration(std::string_view text);
/// Bytes of "8", "64KiB", "100MB", "1GiB": one at least and no more than 1 EiB.
Result<double> parse_bytes(std::string_view text);
/// Bytes a second of "400Gb/s", "400Gbit/s", "50GB/s".
Result<double> parse_rate(std::string_view text);

// --- ranges --------------------------------------------------------------------------------------
// Ranges of names as Slurm, ClusterShell and pdsh write them.

/// "node[01-02,7]:2" makes "node01:2", "node02:2", "node7:2"; several brackets make all combinations, the last one
/// changing first. Fails where there are more than `most`, or longer ones than 255 characters.
Result<std::vector<std::string>> expand_ranges(std::string_view text, std::size_t most);

/// The same names as few ranges, those with one beginning together: "node07", "node08", "gpu1", "node12" make
/// "node[07-08,12]", "gpu1". expand_ranges makes the names of each again.
std::vector<std::string> fold_ranges(const std::vector<std::string>& names);

/// The first of `ends` that is not within brackets, or npos.
std::size_t find_outside_brackets(std::string_view text, std::string_view ends);

} // namespace assay
