// SPDX-License-Identifier: Apache-2.0
//
// A number without a check is a rumour: the checks before and after the timed window.

#pragma once

#include "measure/team_subject.hpp"

namespace assay::measure {

/// Run once, verify. Not passed: `detail` says what was wrong.
Result<record::Verification> check_result(TeamSubject& team);

/// Inject an error into the result, and verify() must object; `sound` is what it said of the result as it was.
Result<record::Verification> check_notices(TeamSubject& team, record::Verification sound);

/// Poison the whole output, run the timed code once more, verify: what is accepted was computed by
/// that run and not left over. The run is an extra batch after the window, of as many calls as those
/// in it (one where the subject rewinds), and its time is thrown away: poisoning moves data in and
/// out of the caches, and which batch is the last of the window is only known afterwards. Poison
/// comes before rewind, which restores inputs that share memory with the output.
Result<record::Verification> check_after(TeamSubject& team, std::uint64_t calls);

/// Why a check that did not pass is not enough, in words: "error 3 exceeds the bound 1e-9".
std::string describe(const record::Verification& verification);

} // namespace assay::measure
