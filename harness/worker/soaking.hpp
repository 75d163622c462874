// SPDX-License-Identifier: Apache-2.0
//
// The window of a soak: one call after the other for a while, and every result looked at. Working and idling may
// alternate, by the clock of the machine, so that all siblings step at the same time.

#pragma once

#include "record/protocol.hpp"
#include "worker/comparison.hpp"
#include "worker/team_subject.hpp"

#include <functional>
#include <string>

namespace assay::measure {

/// A call of the window took so long.
using Take = std::function<void(double seconds)>;

/// Until the window is over: budget_seconds of wall time, but never longer than the limit allows.
Result<void> soak(TeamSubject& team, Comparison& comparison, const Protocol& protocol, Clock& clock,
                  const Hooks& hooks, double latest, const Take& take);

/// For people: what was wrong; empty if nothing was.
std::string describe(const record::SoakVisit& found);

} // namespace assay::measure
