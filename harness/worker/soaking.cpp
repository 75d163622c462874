// SPDX-License-Identifier: Apache-2.0
#include "worker/soaking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::measure {
namespace {

/// Of the time, at most, for the check of a benchmark without a digest.
constexpr double check_share = 0.2;

/// How long until the machine works again; 0: it works now.
double idle_for(double now, double step) {
    if (!(step > 0)) return 0;
    const double within = std::fmod(now, 2 * step);
    return within < step ? 0 : (2 * step) - within;
}

} // namespace

Result<void> soak(TeamSubject& team, Comparison& comparison, const Protocol& protocol, Clock& clock,
                  const Hooks& hooks, double latest, const Take& take) {
    ASSAY_TRY(comparison.begin());
    const double end = std::min(clock.now() + protocol.budget_seconds, latest);
    const bool compares = team.subject().has_digest;
    double check_at = 0; // the first call is checked
    // Only the decisions of rank 0 count.
    const auto decide = [&](bool mine) { return team.from_root(mine ? 1 : 0) != 0; };
    do {
        if (const double idle = idle_for(clock.now(), protocol.step_seconds);
            idle > 0 && hooks.pause)
            hooks.pause(idle);
        ASSAY_TRY(const auto seconds, team.run(1));
        comparison.count(1);
        take(seconds);
        ASSAY_TRY(comparison.look());
        if (const double now = clock.now(); !compares && decide(now >= check_at)) {
            ASSAY_TRY(const auto verification, team.verify());
            ASSAY_TRY(comparison.judge(verification));
            check_at = clock.now() + ((clock.now() - now) * (1 / check_share - 1));
        }
    } while (decide(clock.now() < end));
    return {};
}

std::string describe(const record::SoakVisit& found) {
    if (found.wrong == 0) return {};
    std::string text =
        fmt::format("{} of {} calls computed something wrong", found.wrong, found.calls);
    if (found.corruptions.empty()) return text;
    const auto& first = found.corruptions.front();
    if (first.element)
        text += fmt::format("; first: call {}, element {} of output {}, bits {}", first.call,
                            *first.element, first.output.value_or(0), first.bits);
    else if (first.block)
        text += fmt::format("; first: call {}, block {}", first.call, *first.block);
    else
        text += fmt::format("; first: call {}: {}", first.call, first.detail);
    return text;
}

} // namespace assay::measure
