// SPDX-License-Identifier: Apache-2.0
//
// Before the window: how many calls make a batch, and when is the machine warm?

#pragma once

#include "record/protocol.hpp"
#include "worker/subject.hpp"
#include "worker/team_subject.hpp"

namespace assay::measure {

struct Calibration {
    std::uint64_t calls = 1;     ///< in a batch
    double seconds_per_call = 0; ///< about
};

/// The length that batches aim at, in seconds: at least the floor and so many times the cost of the
/// clock that its reads are negligible, and long enough that some 400 of them fill the shortest
/// window, which leaves the interval enough batches and Google Benchmark few to manage.
double batch_length(const Protocol& protocol, Clock& clock);

/// The number of calls that makes a batch of about `length` seconds, found by trying, from `start` up
/// or down. One call if the subject needs single calls, and never more than one rewind allows.
Result<Calibration> calibrate(TeamSubject& team, double length, std::uint64_t start);

/// Calibrates, runs until rate and core clock have been steady for three stretches or the time for
/// warming up is spent, at least for load_seconds, and calibrates again with the warm rate.
Result<Calibration> warm_up(TeamSubject& team, const Protocol& protocol, Clock& clock,
                            const Hooks& hooks, Pulse& pulse);

} // namespace assay::measure
