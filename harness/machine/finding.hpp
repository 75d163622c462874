// SPDX-License-Identifier: Apache-2.0
//
// Something about a machine that whoever measures on it should know, and what to do about it.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::machine {

enum class Severity : std::uint8_t {
    note,    // worth knowing
    caution, // slower than it could be, or less certain
    serious, // do not trust results, or replace a part
};
constexpr std::string_view to_string(Severity severity) {
    return severity == Severity::serious   ? "serious"
           : severity == Severity::caution ? "caution"
                                           : "note";
}

struct Finding {
    std::string code; ///< for programs: "ecc_off"; harness/doctor/README.md lists all
    Severity severity = Severity::note;
    std::string what;
    std::string action{}; ///< one; empty: none
    std::string where{};  ///< "cuda 0", "eth0"; empty: the machine
};

/// "cuda 0: its ECC is off: `nvidia-smi -e 1` as root turns it on"
inline std::string sentence(const Finding& finding) {
    return (finding.where.empty() ? "" : finding.where + ": ") + finding.what +
           (finding.action.empty() ? "" : ": " + finding.action);
}

} // namespace assay::machine
