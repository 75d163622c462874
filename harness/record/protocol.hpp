// SPDX-License-Identifier: Apache-2.0
//
// How long and how often we measure. Suites may set these; the defaults are those of `standard`.

#pragma once

#include "base/fields.hpp"

#include <cstdint>

namespace assay::record {

struct Protocol {
    double target = 0.01;     ///< half width of the 95% interval at which sampling stops, relative
    double min_seconds = 1.0; ///< of measured time before the first look
    double budget_seconds = 10.0; ///< of measured time for one case in one process
    double limit_seconds =
        120.0; ///< wall time for one case in one process, set-up included; then it is ended
    double batch_floor = 100e-6; ///< seconds a batch lasts at least
    double clock_factor = 1000;  ///< and at least this many times the cost of reading the clock
    std::uint64_t min_batches = 200;
    std::uint64_t few_batches =
        10; ///< enough where one call is longer than min_seconds / min_batches
    std::uint64_t kept_values = 200; ///< batch values kept in the record
    double warmup_seconds =
        0.5; ///< upper bound on warming up; it ends earlier when rate and clock are steady
    double load_seconds = 0; ///< of work before the window at least, however steady it is before
    bool keep_samples = false;
    bool soaks = false; ///< every result is compared; the window lasts budget_seconds, by wall time
    double step_seconds =
        0; ///< of a soak: works and idles in turn, so long each; 0: works all the time
};

ASSAY_FIELDS(Protocol, target, min_seconds, budget_seconds, limit_seconds, batch_floor,
             clock_factor, min_batches, few_batches, kept_values, warmup_seconds, keep_samples,
             soaks, step_seconds)

} // namespace assay::record
