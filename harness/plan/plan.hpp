// SPDX-License-Identifier: Apache-2.0
//
// The cases that will be measured, their order and their protocol: one list, made before anything runs
// from a suite or a list of ids, the catalogue and the command line.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "machine/topology.hpp"
#include "plan/hosts.hpp"
#include "plan/manifest.hpp"
#include "record/model.hpp"
#include "record/protocol.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay::plan {

/// The devices of the node that a case is measured on. `usual`: the first of a kind. All others mean every device,
/// unless the user names some.
ASSAY_ENUM(DeviceUse, usual, in_turn,
           at_once, // all of a kind at the same time: cases that use nothing that devices share
           alone)   // one while the others idle, beside the same case at_once
inline std::string_view expected_text(DeviceUse /*any*/) { return "in_turn, at_once or alone"; }

/// One case to measure.
struct PlannedCase {
    const Manifest* module = nullptr; ///< owned by the catalogue the plan was made from
    const Benchmark* benchmark = nullptr;
    record::NamedList parameters; ///< complete, in the benchmark's order, may be symbolic
    record::Protocol protocol;
    /// The device, or all devices for a benchmark of all devices; none on the host, or if no device is
    /// known.
    std::vector<record::Device> devices{};
    std::string skip_reason; ///< not empty: not measured, but recorded as skipped
    std::string missing;     ///< not empty: what it needs and this machine lacks; not in the run
    record::Values skip_values{};
    std::size_t block =
        0; ///< cases measured together whatever the order: peaks with what they bound
    std::optional<record::Spread> spread{};
    record::ReasonCode skip_code = record::ReasonCode::nothing_to_compare;
    /// Parts of the identity beside the parameters: together=sockets:2 (see together.hpp), on the host part=1/2,
    /// alone=true, stress=true.
    record::NamedList together{};
    bool with_previous = false;            ///< measured at once with the case before it in the plan
    std::optional<machine::Shape> share{}; ///< of the CPUs, where others work at the same time
    std::vector<PlannedCase> loads{};      ///< work at the same time, and are not measured
    bool is_stress = false; ///< measured after all others, once, all at the same time
    DeviceUse devices_used = DeviceUse::usual;
};
/// Its parameters and what else its identity has.
record::NamedList parameters_of(const PlannedCase& planned);
/// The record of a case before anything is measured (status interrupted).
record::Case empty_case(const PlannedCase& planned);
/// Where it is measured, for the record.
record::Place place_of(const PlannedCase& planned);

struct Plan {
    std::string suite;         ///< name of the suite, or "custom" for ids on the command line
    record::Protocol protocol; ///< of cases without their own
    int replicas = 3;
    /// A case that is known after so many replicas gets no more; absent: every case gets all of them.
    std::optional<int> fewest_replicas{};
    /// Time limit of the whole run but its stress: after the first replica of every case none begins that would end
    /// later. Absent: no end.
    std::optional<double> most_seconds{};
    /// Budget: no case whose calls cannot be cut short begins that would end later, the first replica included.
    std::optional<double> hard_seconds{};
    Job job;                    ///< the hosts of teams; none: all on this machine
    bool fresh_workers = false; ///< a new process for each case, as interleaving needs
    bool has_stages = false;    ///< stops where going on is pointless: see run/order.hpp
    std::vector<PlannedCase> cases;
    std::vector<PlannedCase> not_here; ///< what was asked for and cannot run on this machine
    std::string digest;                ///< of all the above and the modules' build ids
    double expected_seconds = 0;
    /// For measuring disturbed replicas again; absent: as long as the plan itself takes. 0: they stay as they are.
    std::optional<double> patience_seconds;
    /// Measures the cases over and over, so long, and compares every result; absent: no soak.
    std::optional<double> soak_seconds;
    std::vector<std::string> notes; ///< what was left out and why, and the effect of the budget
    std::string no_hardware; ///< the note about hardware that this machine lacks; may be empty
    std::vector<std::string> left_out; ///< what was left out and why, for the record
};

struct PlanRequest {
    std::vector<std::string> what;        ///< a suite's name, a suite file's path, or benchmark ids
    std::vector<std::string> set;         ///< "id.param=value[,value...]"
    std::vector<std::string> only;        ///< what to keep, see filter.hpp
    std::vector<std::string> exclude{};   ///< what to leave out, by the same patterns
    std::optional<double> budget_seconds; ///< for the whole run
    std::optional<int> replicas;
    std::vector<std::string> devices{};   ///< "all", indexes, UUIDs, PCI addresses; none: the first
    std::string together{};               ///< "devices", "cpus:2", ...: for every case; "": alone
    Job job{};                            ///< the hosts of teams
    std::optional<double> soak_seconds{}; ///< see Plan; absent: the suite's
    std::optional<machine::Shape> shape{}; ///< absent: that of this machine
    record::Machine machine{}; ///< for the ends of value ranges ("8KiB..beyond_cache") and
                               ///< the devices
};

/// Replicas of a case; under stress one long window, whose course is judged.
inline int replicas_of(const Plan& plan, const PlannedCase& planned) {
    return planned.is_stress ? 1 : plan.replicas;
}
/// Indexes of the cases that are measured at once with this one, itself included.
std::vector<std::size_t> siblings_of(const Plan& plan, std::size_t index);

} // namespace assay::plan
