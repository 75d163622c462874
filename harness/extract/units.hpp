// SPDX-License-Identifier: Apache-2.0
//
// Units as programs write them, and what each is in the base unit of a metric.

#pragma once

#include <optional>
#include <string_view>

namespace assay::extract {

struct Unit {
    std::string_view base; ///< of the table of metrics
    double factor = 1;
};
/// "GB/s", "us", "1/s", "tokens/s"; nothing where it is not known.
std::optional<Unit> unit_of(std::string_view text);
/// The unit of a rate of bytes in a title: "Best Rate MB/s",
/// "max_mibytes_per_sec", "MBytes/sec".
std::optional<Unit> unit_in(std::string_view title);
/// "16 MiB", "1073741824", "64k"
std::optional<double> bytes_of(std::string_view text);

} // namespace assay::extract
