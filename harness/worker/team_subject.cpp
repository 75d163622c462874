// SPDX-License-Identifier: Apache-2.0

#include "worker/team_subject.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace assay::worker {
namespace {

bool is_time(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

Result<void> check_time(const Result<double>& seconds) {
    if (!seconds) return tl::unexpected<Error>{seconds.error()};
    if (!is_time(*seconds))
        return fail(fmt::format("sample() returned {} seconds; a time is finite and not negative",
                                *seconds),
                    Fault::benchmark);
    return {};
}

} // namespace

int TeamSubject::any_rank(bool condition) {
    return static_cast<int>(team_.max(condition ? team_.rank() + 1 : 0));
}

Result<void> TeamSubject::agree(Result<void> outcome) {
    const int failed = any_rank(!outcome);
    if (failed == 0 || !outcome) return outcome;
    failed_rank_ = failed - 1;
    return fail(fmt::format("rank {} of {} failed: see its log", failed_rank_, team_.size()),
                Fault::another_rank);
}

Result<double> TeamSubject::run(std::uint64_t calls) {
    if (subject_.rewinds) {
        // Agreed before sampling: a rank that stays away would leave the others in a collective.
        ASSAY_TRY(agree(subject_.rewind()));
    }
    team_.barrier();
    const Result<double> seconds = runner_.run(subject_, calls);
    const Result<void> outcome = check_time(seconds);
    // One collective carries both the time and a failure.
    const double slowest = team_.max(outcome ? *seconds : std::numeric_limits<double>::infinity());
    if (is_time(slowest)) return slowest;
    return agree(outcome).map([slowest] { return slowest; });
}

Result<void> TeamSubject::poison() { return agree(subject_.poison()); }

Result<void> TeamSubject::spoil() { return agree(subject_.spoil()); }

Result<record::Verification> TeamSubject::verify() {
    Result<record::Verification> own = subject_.verify();
    ASSAY_TRY(agree(own.map([](const auto&) {})));
    const int wrong = any_rank(!own->passed);
    if (wrong != 0 && own->passed) {
        own->passed = false;
        own->detail = fmt::format("rank {} of {} holds a wrong result", wrong - 1, team_.size());
    }
    return own;
}

Result<bool> TeamSubject::verify_objects() {
    const Result<record::Verification> own = subject_.verify();
    ASSAY_TRY(agree(own.map([](const auto&) {})));
    return any_rank(!own->passed) != 0;
}

} // namespace assay::worker
