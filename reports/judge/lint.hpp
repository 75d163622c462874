// SPDX-License-Identifier: Apache-2.0
//
// Faults in files of limits: bounds that no device can reach or that every device reaches, limits of another
// chip, of another precision, for nothing, out of date. A gate that is wrong by a factor of 1000 passes for years.
//
// Codes are for programs and stay as they are: unreadable, unit_missing, unit_slip (a factor of 1000 away from what the
// hardware can do), above_peak (no device can reach it), below_half (a device at half its speed passes), reached_by_all
// (so does a device that does next to nothing), neighbours_differ (limits of one chip, a factor of 3 apart),
// gates_differ (two limits for the same thing), stacked (a tolerance of a tolerance), odd_share (another share of the
// measured value than in the rest of the file), precision_differs (its name says bf16, its cases are fp16), other_chip
// (measured on a chip that it is not for), matches_nothing (no such benchmark, chip, machine of these runs, case of
// them), expired, unknown_parameter and unknown_value (of the benchmark), unit_differs (from that of the primary
// metric), unit_converted (a note: "GB/s" was read as B/s), unknown_limit (of a waiver or a share), waiver_expired,
// waiver_long (over a year from now), waiver_everywhere (it names no machine).

#pragma once

#include "document/lint.hpp"
#include "judge/limits.hpp"
#include "reference/hardware.hpp"
#include "store/collection.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::judge {

// --- peaks ---------------------------------------------------------------------------------------
// What physics allows where a limit applies: rates by the data sheets of the chips that it is for, and of the network
// between nodes by their instance type. Independent of runs.

struct Peak {
    std::string of;  ///< "NVIDIA H200 SXM 141GB", "p5.48xlarge, network"
    double most = 0; ///< no value lies above
    std::optional<double>
        usual; ///< a good device reaches half of it; absent where another resource decides
    double newer =
        1; ///< where the limit names no chip, one that no data sheet has may be faster by this factor
};

/// Chips that the limit's machines have; empty where it does not name devices.
std::vector<const reference::HardwareEntry*> chips_of(const Limit& limit,
                                                      const reference::Hardware& hardware);

/// One for each chip of it that the data sheets have; of a limit that names none the fastest. Empty where none bounds
/// the metric. In the unit of the limit.
std::vector<Peak> peaks_of(const Limit& limit, const reference::Hardware& hardware);

/// The latency, in seconds, that only a broken measurement of its benchmark exceeds; infinite for other benchmarks.
double most_latency(const Limit& limit);

/// The bus bandwidth of an all-reduce over k nodes and n ranks that B bytes a second of each node's network allow: what
/// enters a node is all of the other nodes' data once: B k / (k - 1) (n - 1) / n.
double bus_bandwidth_between(double node_bandwidth, double nodes, double ranks);

// -------------------------------------------------------------------------------------------------

struct LintOptions {
    std::optional<double> now;                     ///< seconds since 1970; the clock's otherwise
    const reference::Hardware* hardware = nullptr; ///< no peaks without
    const store::Collection* runs = nullptr;       ///< whose machines and cases limits may be for
};

/// `file`: as Limit::file has it.
struct NamedLimits {
    std::string file;
    LimitsFile limits;
};
/// In the order of files and limits.
std::vector<document::LintRow> lint(const std::vector<NamedLimits>& files,
                                    const LintOptions& options = {});

/// Benchmarks, parameters, values and machines that it names and nobody knows; cases that these runs do not have.
/// Without file and limit.
std::vector<document::LintRow> unknown_names(const Limit& limit, const LintOptions& options);
/// Is it for a machine of these runs?
bool is_for_any(const Limit& limit, const store::Collection& runs);

/// A file that cannot be read as limits, and why: as precisely as can be.
std::vector<document::LintRow> lint_unreadable(const std::string& file, std::string_view text,
                                               const std::string& error);

} // namespace assay::judge
