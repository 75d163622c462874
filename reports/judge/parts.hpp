// SPDX-License-Identifier: Apache-2.0
//
// Faults of the parts of a machine, whatever was measured. A limit that is a share of a data sheet starts from
// the links, channels and clocks that are there, so that a missing part lowers the limit: it is found here.

#pragma once

#include "base/names.hpp"
#include "record/model.hpp"
#include "reference/hardware.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::judge {

// --- causes --------------------------------------------------------------------------------------
// Codes of what a check found, and what each means for the node: for programs, JUnit and tickets, so they stay as they
// are. Their words are in document/texts/judge_cause.json.

/// In the order in which they outweigh each other.
enum class Outcome : std::uint8_t { pass, skip, warn, inconclusive, error, fail };
ASSAY_NAMES(Outcome, "PASS, SKIP, WARN, INCONCLUSIVE, ERROR, FAIL")

/// An operator's action on a failed check, the mildest first.
ASSAY_ENUM(Action, none, retest,
           fix_setup, // driver, governor, other users
           reset,     // the device
           reboot, reseat,
           isolate, // take out of service until it is known
           return_it)

/// The party at fault: the hardware ("node_problem"), the setup or use of the machine ("user_problem"), or the
/// measurement, which says nothing about the node.
enum class Blame : std::uint8_t { none, node, user, measurement };
ASSAY_NAMES(Blame, "none, node_problem, user_problem, measurement")

/// How urgent a finding is, the least first.
ASSAY_ENUM(CheckSeverity, none, low, medium, high, critical)
/// FAIL is high, and critical where the node must leave service; ERROR and INCONCLUSIVE are medium, WARN is low.
CheckSeverity severity_of(Outcome outcome, Action action);

ASSAY_ENUM(Cause, none,
           // the node: FAIL
           below_limit, above_limit, slower_than_siblings, wrong_result, corrupted, slowed_down,
           slows_when_hot, part_missing, link_narrow, links_missing, module_missing, link_slow,
           memory_uncorrected, row_broken, row_pending, fabric_degraded, overheated,
           // the node: WARN
           near_limit, throttled, slowing_down, memory_corrected, packets_resent, port_slow,
           counter_rose, slot_narrow, channels_empty, allowance_exceeded, burstable,
           // how it is set up: INCONCLUSIVE
           device_shared, device_capped, device_divided, driver_silent, quota, ecc_off, clock_held,
           setup_differs, other_load, fabric_unready,
           // what the files contradict: INCONCLUSIVE
           clock_went_back, id_of_others, replicas_copied,
           // not decided: INCONCLUSIVE
           nothing_measured, no_limits, not_measured, not_applicable, no_datasheet, no_siblings,
           no_value, no_telemetry, not_verified, wrong_unit, links_unknown, executed_on_cpu,
           limit_expired, too_few_replicas, undecided, unsettled, unstable, disturbed, soak_short,
           not_compared, neighbours,
           // nothing can be said: ERROR
           case_failed, case_crashed, case_timed_out, not_started, interrupted,
           // accepted
           waived, waiver_unused)
inline std::string_view expected_text(Cause /*any*/) {
    return "a cause code, as `assay check` shows them";
}
inline constexpr Cause last_cause = Cause::waiver_unused;

struct CauseMeaning {
    Outcome outcome;
    Blame blame;
    Action action;
};
CauseMeaning meaning_of(Cause cause);
/// Not where computers compute wrongly: that is never accepted.
constexpr bool may_be_waived(Cause cause) {
    return cause != Cause::wrong_result && cause != Cause::corrupted;
}

/// The finding about the node behind a disturbance; nothing if it does not concern the node.
std::optional<Cause> cause_of(record::DisturbanceCode code);
/// Cause of a case without a value.
std::optional<Cause> cause_of(record::Status status);

// -------------------------------------------------------------------------------------------------

struct PartFinding {
    Cause cause = Cause::none; ///< none: it is as it should be
    std::string id;
    std::string detail;
    std::string of{}; ///< identity of its case, where it is about one
};

/// Links of devices and cards, ports, memory channels, clocks. `clock_hz`: of one core while nothing else ran.
/// `hardware`: null where the data sheets cannot be read.
std::vector<PartFinding> findings_of_parts(const record::Machine& machine,
                                           std::optional<double> clock_hz,
                                           const reference::Hardware* hardware);

/// Findings of a soak: wrong results, its time, and for each phase whether it slowed down.
std::vector<PartFinding> findings_of(const record::Soak& soak);

/// Devices that the provider's type of machine has. 0 where the catalogue does not know it, or what no driver of ours
/// reports, and in a container, which may be given some of them.
int devices_of_type(const record::Machine& machine, const reference::Hardware* hardware);

/// The installed data sheets, read once; null if they cannot be read.
const reference::Hardware* installed_hardware();

} // namespace assay::judge
