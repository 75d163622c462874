// SPDX-License-Identifier: Apache-2.0

#include "judge/causes.hpp"

#include <algorithm>
#include <initializer_list>

namespace assay::report {
namespace {

constexpr CauseMeaning broken(Action action) {
    return {.outcome = Outcome::fail, .blame = Blame::node, .action = action};
}
constexpr CauseMeaning doubtful{
    .outcome = Outcome::warn, .blame = Blame::node, .action = Action::none};
constexpr CauseMeaning misused{
    .outcome = Outcome::inconclusive, .blame = Blame::user, .action = Action::fix_setup};
constexpr CauseMeaning open{
    .outcome = Outcome::inconclusive, .blame = Blame::measurement, .action = Action::retest};
constexpr CauseMeaning lacking{
    .outcome = Outcome::inconclusive, .blame = Blame::measurement, .action = Action::none};
constexpr CauseMeaning ended{
    .outcome = Outcome::error, .blame = Blame::measurement, .action = Action::retest};

/// Nothing of a cause that was forgotten here.
constexpr std::optional<CauseMeaning> known_meaning(Cause cause) {
    using enum Cause;
    const auto is = [&](std::initializer_list<Cause> some) {
        return std::ranges::find(some, cause) != some.end();
    };
    if (cause == none) return CauseMeaning{Outcome::pass, Blame::none, Action::none};
    if (is({below_limit, above_limit, slower_than_siblings, wrong_result, corrupted, slowed_down,
            overheated}))
        return broken(Action::isolate);
    if (is({part_missing, link_narrow, module_missing, link_slow})) return broken(Action::reseat);
    if (is({links_missing, memory_uncorrected})) return broken(Action::reset);
    if (cause == row_broken) return broken(Action::return_it);
    if (is({near_limit, slowing_down, memory_corrected, packets_resent, port_slow, counter_rose,
            slot_narrow, channels_empty}))
        return doubtful;
    if (cause == throttled) return CauseMeaning{Outcome::warn, Blame::node, Action::retest};
    if (is({device_shared, device_capped, device_divided, quota, ecc_off, clock_held, setup_differs,
            other_load}))
        return misused;
    if (cause == driver_silent)
        return CauseMeaning{Outcome::inconclusive, Blame::user, Action::reboot};
    if (is({nothing_measured, not_measured, no_value, too_few_replicas, undecided, unstable,
            disturbed, soak_short, not_compared, neighbours, interrupted}))
        return open;
    if (is({no_limits, not_applicable, no_datasheet, no_siblings, no_telemetry, not_verified,
            wrong_unit, executed_on_cpu, limit_expired, unsettled}))
        return lacking;
    if (is({case_failed, case_crashed, case_timed_out, not_started})) return ended;
    if (is({waived, waiver_unused})) return CauseMeaning{Outcome::warn, Blame::none, Action::none};
    return {};
}
constexpr bool is_complete() {
    for (int i = 0; i <= static_cast<int>(last_cause); ++i)
        if (!known_meaning(static_cast<Cause>(i))) return false;
    return true;
}
static_assert(is_complete());

} // namespace

CheckSeverity severity_of(Outcome outcome, Action action) {
    switch (outcome) {
    case Outcome::pass:
    case Outcome::skip:
        break;
    case Outcome::warn:
        return CheckSeverity::low;
    case Outcome::inconclusive:
    case Outcome::error:
        return CheckSeverity::medium;
    case Outcome::fail:
        return action >= Action::isolate ? CheckSeverity::critical : CheckSeverity::high;
    }
    return CheckSeverity::none;
}

CauseMeaning meaning_of(Cause cause) { return known_meaning(cause).value(); }

std::optional<Cause> cause_of(record::DisturbanceCode code) {
    using enum record::DisturbanceCode;
    // The others count where no window was without them: as causes of the status `disturbed`.
    for (const auto own : {link_narrow, link_slow, memory_uncorrected, row_broken, memory_corrected,
                           packets_resent, device_capped, driver_silent, quota})
        if (own == code) return value_named<Cause>(to_string(code));
    return {};
}

std::optional<Cause> cause_of(record::Status status) {
    using record::Status;
    switch (status) {
    case Status::incorrect:
        return Cause::wrong_result;
    case Status::skipped:
        return Cause::not_applicable;
    case Status::failed:
        return Cause::case_failed;
    case Status::crashed:
        return Cause::case_crashed;
    case Status::timed_out:
        return Cause::case_timed_out;
    case Status::not_started:
        return Cause::not_started;
    case Status::interrupted:
        return Cause::interrupted;
    default: // it has a value
        return {};
    }
}

} // namespace assay::report
