// SPDX-License-Identifier: Apache-2.0

#include "worker/checks.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay::measure {

Result<record::Verification> check_result(TeamSubject& team) {
    ASSAY_TRY(team.run(1));
    return team.verify();
}

namespace {

/// After the result was made wrong on purpose.
Result<record::Verification> expect_objection(TeamSubject& team, record::Verification sound,
                                              const char* otherwise) {
    ASSAY_TRY(const bool objects, team.verify_objects());
    if (!objects) {
        sound.passed = false;
        sound.error.reset(); // the error of the sound result says nothing about the wrong one
        sound.detail = otherwise;
    }
    return sound;
}

} // namespace

Result<record::Verification> check_notices(TeamSubject& team, record::Verification sound) {
    ASSAY_TRY(team.spoil());
    // Every batch rewinds before it runs, so nothing of the spoiled or poisoned state is measured.
    return expect_objection(team, std::move(sound), "verify() did not detect the injected error");
}

Result<record::Verification> check_poison(TeamSubject& team, record::Verification sound) {
    ASSAY_TRY(team.run(1));
    ASSAY_TRY(team.poison());
    return expect_objection(
        team, std::move(sound),
        "poison() left the result as it was: a run() that does nothing would pass");
}

Result<record::Verification> check_after(TeamSubject& team, std::uint64_t calls) {
    ASSAY_TRY(team.poison());
    const std::uint64_t checked_calls = team.subject().rewinds ? 1 : calls;
    ASSAY_TRY(team.run(checked_calls));
    return team.verify();
}

std::string describe(const record::Verification& verification) {
    std::string text = verification.detail;
    if (verification.error && verification.bound) {
        if (!text.empty()) text += "; ";
        text += fmt::format("error {:.3g} against a bound of {:.3g}", *verification.error,
                            *verification.bound);
    }
    return text.empty() ? "verify() rejected the result" : text;
}

} // namespace assay::measure
