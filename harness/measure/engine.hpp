// SPDX-License-Identifier: Apache-2.0
//
// Measures one case in this process: the protocol of harness/decisions/timing.md 0010. Knows no module and no
// file: what is measured, the clock and the team are handed in, so that tests hand in fakes.

#pragma once

#include "measure/protocol.hpp"
#include "measure/subject.hpp"
#include "record/model.hpp"

#include <assay/team.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::measure {

struct Measurement {
    record::Status status = record::Status::failed; ///< ok, unstable, incorrect or failed
    std::string reason;                             ///< empty only when ok
    std::optional<record::Verification> verification;
    /// index, started, set-up and telemetry are the caller's
    record::Replica replica;
    std::vector<double> samples; ///< seconds per call of every batch, where the protocol keeps them
    std::uint64_t window_calls = 0; ///< made between window_begins and window_ends
};

/// On a team every rank calls this with its own subject and gets the same status; the text of an error
/// is best on the rank where it happened.
Measurement measure(Subject& subject, const Protocol& protocol, Clock& clock, BatchRunner& runner,
                    Team team, const Hooks& hooks);

} // namespace assay::measure
