// SPDX-License-Identifier: Apache-2.0
//
// Sizes and rates as people type them.

#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace assay::report {

/// "1GiB", "64KiB", "100MB", "8": bytes, one at least and no more than 1 EiB.
Result<double> parse_bytes(std::string_view text);

/// "400Gb/s", "400Gbit/s", "50GB/s": bytes a second.
Result<double> parse_rate(std::string_view text);

} // namespace assay::report
