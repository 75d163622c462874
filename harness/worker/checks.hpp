// SPDX-License-Identifier: Apache-2.0
//
// The checks before and after the timed window.

#pragma once

#include "worker/team_subject.hpp"

namespace assay::measure {

/// Run once, verify. Not passed: `detail` says what was wrong.
Result<record::Verification> check_result(TeamSubject& team);

/// Injects an error into the result: verify() must reject it. `sound`: the verification of the correct result.
Result<record::Verification> check_notices(TeamSubject& team, record::Verification sound);

/// Runs once more and poisons the output: verify() must reject it, or else a run() that does nothing would pass.
Result<record::Verification> check_poison(TeamSubject& team, record::Verification sound);

/// Poisons the whole output, runs the timed code once more and verifies: an accepted result was computed by
/// that run and is no leftover. The run is an extra batch after the window, of as many calls as those
/// in it (one if the subject rewinds), and its time is discarded: poisoning moves data in and
/// out of the caches, and which batch is the last of the window is only known afterwards. Poison
/// comes before rewind, which restores inputs that share memory with the output.
Result<record::Verification> check_after(TeamSubject& team, std::uint64_t calls);

/// Why a check did not pass, in words: "error 3 exceeds the bound 1e-9".
std::string describe(const record::Verification& verification);

} // namespace assay::measure
