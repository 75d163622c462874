// SPDX-License-Identifier: Apache-2.0
//
// Waits until other programs leave the machine alone. Asked between measurements, when none of our processes works.

#pragma once

#include "machine/files.hpp"

#include <functional>

namespace assay::harness {

struct QuietOptions {
    machine::Files files{};
    std::function<double()> now; ///< seconds since any origin
    /// Waits so many seconds; false: the run is to stop.
    std::function<bool(double seconds)> pause;
    std::function<double()> own_seconds; ///< CPU time that this process used
};

/// True as soon as other programs and the hypervisor used at most 2% of the CPU time in a fifth of a second; false after
/// `limit_seconds`, or when the run is to stop. True at once where the kernel does not tell.
bool wait_for_quiet(const QuietOptions& options, double limit_seconds);

} // namespace assay::harness
