// SPDX-License-Identifier: Apache-2.0
//
// What physics allows where a limit applies: rates by the data sheets of the chips that it is for, and of the network
// between nodes by their instance type. Independent of runs.

#pragma once

#include "judge/limits.hpp"
#include "reference/hardware.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

struct Peak {
    std::string of;  ///< "NVIDIA H200 SXM 141GB", "p5.48xlarge, network"
    double most = 0; ///< no value lies above
    std::optional<double>
        usual; ///< a good device reaches half of it; absent where another resource decides
    double newer =
        1; ///< where the limit names no chip, one that no data sheet has may be faster by this factor
};

/// Chips that the limit's machines have; empty where it does not name devices.
std::vector<const datasheet::HardwareEntry*> chips_of(const Limit& limit,
                                                      const datasheet::Hardware& hardware);

/// One for each chip of it that the data sheets have; of a limit that names none the fastest. Empty where none bounds the
/// metric. In the unit of the limit.
std::vector<Peak> peaks_of(const Limit& limit, const datasheet::Hardware& hardware);

/// The latency, in seconds, that only a broken measurement of its benchmark exceeds; infinite where there is none.
double most_latency(const Limit& limit);

/// The bus bandwidth of an all-reduce over k nodes and n ranks that B bytes a second of each node's network allow: what
/// enters a node is all of the other nodes' data once: B k / (k - 1) (n - 1) / n.
double bus_bandwidth_between(double node_bandwidth, double nodes, double ranks);

} // namespace assay::report
