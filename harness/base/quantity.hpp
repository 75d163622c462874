// SPDX-License-Identifier: Apache-2.0
//
// Amounts with their units, as people write them.

#pragma once

#include "base/result.hpp"

#include <string_view>

namespace assay {

/// Seconds of "90", "90s", "15m", "1h".
Result<double> parse_duration(std::string_view text);

} // namespace assay
