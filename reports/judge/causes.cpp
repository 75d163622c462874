// SPDX-License-Identifier: Apache-2.0

#include "judge/causes.hpp"

#include <algorithm>
#include <array>

namespace assay::report {
namespace {

struct CauseEntry {
    Cause cause;
    const char* name;
    CauseMeaning meaning;
};

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

constexpr std::array table{
    CauseEntry{Cause::none, "none", {Outcome::pass, Blame::none, Action::none}},
    CauseEntry{Cause::below_limit, "below_limit", broken(Action::isolate)},
    CauseEntry{Cause::above_limit, "above_limit", broken(Action::isolate)},
    CauseEntry{Cause::slower_than_siblings, "slower_than_siblings", broken(Action::isolate)},
    CauseEntry{Cause::wrong_result, "wrong_result", broken(Action::isolate)},
    CauseEntry{Cause::corrupted, "corrupted", broken(Action::isolate)},
    CauseEntry{Cause::slowed_down, "slowed_down", broken(Action::isolate)},
    CauseEntry{Cause::part_missing, "part_missing", broken(Action::reseat)},
    CauseEntry{Cause::link_narrow, "link_narrow", broken(Action::reseat)},
    CauseEntry{Cause::links_missing, "links_missing", broken(Action::reset)},
    CauseEntry{Cause::module_missing, "module_missing", broken(Action::reseat)},
    CauseEntry{Cause::link_slow, "link_slow", broken(Action::reseat)},
    CauseEntry{Cause::memory_uncorrected, "memory_uncorrected", broken(Action::reset)},
    CauseEntry{Cause::row_broken, "row_broken", broken(Action::return_it)},
    CauseEntry{Cause::overheated, "overheated", broken(Action::isolate)},
    CauseEntry{Cause::near_limit, "near_limit", doubtful},
    CauseEntry{Cause::throttled, "throttled", {Outcome::warn, Blame::node, Action::retest}},
    CauseEntry{Cause::slowing_down, "slowing_down", doubtful},
    CauseEntry{Cause::memory_corrected, "memory_corrected", doubtful},
    CauseEntry{Cause::packets_resent, "packets_resent", doubtful},
    CauseEntry{Cause::port_slow, "port_slow", doubtful},
    CauseEntry{Cause::counter_rose, "counter_rose", doubtful},
    CauseEntry{Cause::slot_narrow, "slot_narrow", doubtful},
    CauseEntry{Cause::channels_empty, "channels_empty", doubtful},
    CauseEntry{Cause::device_shared, "device_shared", misused},
    CauseEntry{Cause::device_capped, "device_capped", misused},
    CauseEntry{Cause::device_divided, "device_divided", misused},
    CauseEntry{Cause::driver_silent,
               "driver_silent",
               {Outcome::inconclusive, Blame::user, Action::reboot}},
    CauseEntry{Cause::quota, "quota", misused},
    CauseEntry{Cause::ecc_off, "ecc_off", misused},
    CauseEntry{Cause::clock_held, "clock_held", misused},
    CauseEntry{Cause::setup_differs, "setup_differs", misused},
    CauseEntry{Cause::other_load, "other_load", misused},
    CauseEntry{Cause::nothing_measured, "nothing_measured", open},
    CauseEntry{Cause::no_limits, "no_limits", lacking},
    CauseEntry{Cause::not_measured, "not_measured", open},
    CauseEntry{Cause::not_applicable, "not_applicable", lacking},
    CauseEntry{Cause::no_datasheet, "no_datasheet", lacking},
    CauseEntry{Cause::no_siblings, "no_siblings", lacking},
    CauseEntry{Cause::no_value, "no_value", open},
    CauseEntry{Cause::no_telemetry, "no_telemetry", lacking},
    CauseEntry{Cause::not_verified, "not_verified", lacking},
    CauseEntry{Cause::wrong_unit, "wrong_unit", lacking},
    CauseEntry{Cause::executed_on_cpu, "executed_on_cpu", lacking},
    CauseEntry{Cause::limit_expired, "limit_expired", lacking},
    CauseEntry{Cause::too_few_replicas, "too_few_replicas", open},
    CauseEntry{Cause::undecided, "undecided", open},
    CauseEntry{Cause::unsettled, "unsettled", lacking},
    CauseEntry{Cause::unstable, "unstable", open},
    CauseEntry{Cause::disturbed, "disturbed", open},
    CauseEntry{Cause::soak_short, "soak_short", open},
    CauseEntry{Cause::not_compared, "not_compared", open},
    CauseEntry{Cause::neighbours, "neighbours", open},
    CauseEntry{Cause::case_failed, "case_failed", ended},
    CauseEntry{Cause::case_crashed, "case_crashed", ended},
    CauseEntry{Cause::case_timed_out, "case_timed_out", ended},
    CauseEntry{Cause::not_started, "not_started", ended},
    CauseEntry{Cause::interrupted, "interrupted", open},
    CauseEntry{Cause::waived, "waived", {Outcome::warn, Blame::none, Action::none}},
    CauseEntry{Cause::waiver_unused, "waiver_unused", {Outcome::warn, Blame::none, Action::none}},
};
constexpr bool in_order() {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table.at(i).cause != static_cast<Cause>(i)) return false;
    return table.size() == static_cast<std::size_t>(last_cause) + 1;
}
static_assert(in_order());

constexpr std::array outcomes{"PASS", "SKIP", "WARN", "INCONCLUSIVE", "ERROR", "FAIL"};
constexpr std::array actions{"none",   "retest", "fix_setup", "reset",
                             "reboot", "reseat", "isolate",   "return_it"};
constexpr std::array severities{"none", "low", "medium", "high", "critical"};
constexpr std::array blames{"none", "node_problem", "user_problem", "measurement"};

} // namespace

std::string_view to_string(Outcome outcome) {
    return outcomes.at(static_cast<std::size_t>(outcome));
}
std::string_view expected_text(Outcome /*outcome*/) {
    return "PASS, SKIP, WARN, INCONCLUSIVE, ERROR or FAIL";
}
std::string_view to_string(Action action) { return actions.at(static_cast<std::size_t>(action)); }
bool from_text(std::string_view text, Action& out) {
    const auto* const found = std::ranges::find(actions, text);
    if (found != actions.end()) out = static_cast<Action>(found - actions.begin());
    return found != actions.end();
}
std::string_view expected_text(Action /*action*/) {
    return "none, retest, fix_setup, reset, reboot, reseat, isolate or return_it";
}

std::string_view to_string(Blame blame) { return blames.at(static_cast<std::size_t>(blame)); }

std::string_view to_string(CheckSeverity severity) {
    return severities.at(static_cast<std::size_t>(severity));
}
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

std::string_view to_string(Cause cause) { return table.at(static_cast<std::size_t>(cause)).name; }
bool from_text(std::string_view text, Cause& out) {
    const auto* const found = std::ranges::find(
        table, text, [](const CauseEntry& entry) { return std::string_view{entry.name}; });
    if (found == table.end()) return false;
    out = found->cause;
    return true;
}
std::string_view expected_text(Cause /*cause*/) {
    return "a cause code, as `assay check` shows them";
}

CauseMeaning meaning_of(Cause cause) { return table.at(static_cast<std::size_t>(cause)).meaning; }

std::optional<Cause> cause_of(record::DisturbanceCode code) {
    using Code = record::DisturbanceCode;
    switch (code) {
    case Code::link_narrow:
        return Cause::link_narrow;
    case Code::link_slow:
        return Cause::link_slow;
    case Code::memory_uncorrected:
        return Cause::memory_uncorrected;
    case Code::row_broken:
        return Cause::row_broken;
    case Code::memory_corrected:
        return Cause::memory_corrected;
    case Code::packets_resent:
        return Cause::packets_resent;
    case Code::device_capped:
        return Cause::device_capped;
    case Code::driver_silent:
        return Cause::driver_silent;
    case Code::quota:
        return Cause::quota;
    // These count where no window was without them: as causes of the status `disturbed`.
    case Code::other:
    case Code::foreign_cpu:
    case Code::steal:
    case Code::waiting:
    case Code::too_hot:
    case Code::clock_fell:
    case Code::clock_rose:
    case Code::device_slowed:
    case Code::device_shared:
    case Code::neighbours:
    case Code::clock_low:
    case Code::cpus_moved:
        break;
    }
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
    case Status::ok:
    case Status::unstable:
    case Status::disturbed:
        break;
    }
    return {};
}

} // namespace assay::report
