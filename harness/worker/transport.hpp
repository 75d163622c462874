// SPDX-License-Identifier: Apache-2.0
//
// Do the counters of NVLink agree with the way that a benchmark says its messages took? What it expects
// comes as settings, see Context::nvlink_at_least in assay/benchmark.hpp; this file knows no library.

#pragma once

#include "record/model.hpp"
#include "telemetry/links.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::harness {

struct LinkProof {
    std::string said; ///< what was counted, for the record; empty where nothing was expected
    std::string contradiction; ///< empty, or how the counters contradict the benchmark
};

/// `counted`: of the devices that the case was shown; empty where the driver tells nothing. `calls`: in the window.
LinkProof prove_links(const record::NamedList& settings,
                      const std::vector<telemetry::LinkBytes>& counted, std::uint64_t calls);

/// The sums over the devices, for the record; nothing where none is counted.
telemetry::LinkBytes sum_of(const std::vector<telemetry::LinkBytes>& counted);

} // namespace assay::harness
