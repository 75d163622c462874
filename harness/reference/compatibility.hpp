// SPDX-License-Identifier: Apache-2.0
//
// Which versions of driver, toolkit and chip go together: configs/compatibility.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reference {

using Version = std::vector<std::int64_t>; ///< 580.65.06 is three numbers; compared in order

struct ToolkitRow {
    Version toolkit; ///< its first number counts
    Version driver;  ///< the oldest that runs its programs
    std::string source;
};

struct ChipRow {
    std::string compute_capability;
    Version first_toolkit; ///< that makes code for it
    Version last_toolkit;  ///< empty: none dropped it
    Version last_driver;   ///< a branch; empty: none dropped it
    std::string source;
};

struct Compatibility {
    std::vector<ToolkitRow> toolkits;
    std::vector<ChipRow> chips;
};

/// The content of a file; `source` names it in messages.
Result<Compatibility> parse_compatibility(std::string_view text, std::string_view source,
                                          const json::Value& schema);
/// The file that is installed.
Result<Compatibility> read_compatibility();

} // namespace assay::reference
