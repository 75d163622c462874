// SPDX-License-Identifier: Apache-2.0
//
// What STREAM and BabelStream have in common: kernels over whole arrays, with a bandwidth of the shortest time beside the
// mean, the shortest and the longest time.

#pragma once

#include "import/draft.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::imports::kernels {

/// Arrays that a kernel reads or writes once for each element.
std::optional<int> arrays_of(std::string_view kernel);
/// Bytes per second in the unit of a title: "max_mbytes_per_sec", "MiB/s", "MBytes/sec".
std::optional<double> unit_of(std::string_view title);
std::string precision_of(std::int64_t bytes);

/// One line of a table.
struct Kernel {
    Reading reading;             ///< its name, where it ran, parameters, settings
    double bytes = 0;            ///< of one call; 0: not known
    std::optional<double> best;  ///< B/s, as printed: the tool's own headline
    double mean = 0;             ///< s
    std::optional<double> least; ///< s
    std::optional<double> most;  ///< s
    double half_digit = 0;       ///< s, of the printed times
};
void add(Kernel kernel, std::string_view line, Draft& draft);

} // namespace assay::imports::kernels
