// SPDX-License-Identifier: Apache-2.0
//
// Several values in one word: "8KiB..1GiB" is every doubling between the two, "8KiB..beyond_cache:2"
// two values in each octave, up to what the symbol stands for on this machine. The grid between the
// ends is the same everywhere, so that machines of different size share points. "one..all" doubles
// the threads.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::harness {

inline constexpr std::string_view range_dots = "..";
/// Is the word written as a range?
bool is_range(std::string_view text);

/// The values, ascending; the upper end is the last one, and remains a symbol if it is one. Fails for
/// parameters that are not integers, for ends out of order or range, and for more than 16 values in an
/// octave.
Result<std::vector<record::Value>>
values_in_range(const Parameter& parameter, std::string_view text, const record::Machine& machine);

/// What the symbol of an integer stands for; an unknown machine has one core and caches of unknown size.
std::optional<std::int64_t> number_of_symbol(std::string_view symbol,
                                             const record::Machine& machine);

} // namespace assay::harness
