// SPDX-License-Identifier: Apache-2.0
//
// Something about a machine that whoever measures on it should know, and what to do about it.

#pragma once

#include "base/fields.hpp"
#include "base/names.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::record {

ASSAY_ENUM(Severity,
           note,    // worth knowing
           caution, // slower than it could be, or less certain
           serious) // do not trust results, or replace a part

struct Finding {
    std::string code; ///< for programs: "ecc_off"; harness/reference/README.md lists all
    Severity severity = Severity::note;
    std::string what;
    std::string action{}; ///< one; empty: none
    std::string where{};  ///< "cuda 0", "eth0"; empty: the machine
};
ASSAY_FIELDS(Finding, code, severity, where, what, action)

/// "cuda 0: its ECC is off: `nvidia-smi -e 1` as root turns it on"
inline std::string sentence(const Finding& finding) {
    return (finding.where.empty() ? "" : finding.where + ": ") + finding.what +
           (finding.action.empty() ? "" : ": " + finding.action);
}

} // namespace assay::record
