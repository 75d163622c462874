// SPDX-License-Identifier: Apache-2.0
//
// Measures one case in this process by the protocol of harness/decisions/timing.md 0010. Subject, clock and team
// are arguments, so that tests can pass fakes; modules and files are unknown here.

#pragma once

#include "record/model.hpp"
#include "record/protocol.hpp"
#include "worker/subject.hpp"

#include <assay/team.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace assay::worker {

struct Measurement {
    record::Replica replica; ///< ok, unstable, incorrect or failed; telemetry is the caller's
    std::optional<record::Verification> verification{};
    std::vector<double> samples{};  ///< seconds per call of every batch, if the protocol keeps them
    std::uint64_t window_calls = 0; ///< made between window_begins and window_ends
    Digest reference{};             ///< of a soak: what right is
};

/// On a team every rank calls this with its own subject and gets the same status; the rank where an error
/// happened has its text. `begun`: the replica so far, with its index, start and set-up time.
Measurement measure(Subject& subject, const record::Protocol& protocol, Clock& clock,
                    BatchRunner& runner, Team team, const Hooks& hooks, record::Replica begun = {});

} // namespace assay::worker
