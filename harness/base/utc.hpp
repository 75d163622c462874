// SPDX-License-Identifier: Apache-2.0
//
// Times as result files write them.

#pragma once

#include <optional>
#include <string_view>

namespace assay {

/// Seconds since 1970 of "2026-01-31T12:34:56Z", also with a fraction, or of a date alone.
std::optional<double> seconds_of(std::string_view utc);

} // namespace assay
