// SPDX-License-Identifier: Apache-2.0
//
// Which cases will be measured, in which order, under which protocol: a suite or a list of ids, the
// catalogue, and what the user asked for on the command line, made into one list before anything runs.

#pragma once

#include "base/result.hpp"
#include "measure/protocol.hpp"
#include "plan/hosts.hpp"
#include "record/model.hpp"
#include "registry/manifest.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::harness {

/// One case to measure.
struct PlannedCase {
    const Manifest* module = nullptr; ///< owned by the catalogue the plan was made from
    const Benchmark* benchmark = nullptr;
    record::NamedList parameters; ///< complete, in the benchmark's order, may be symbolic
    measure::Protocol protocol;
    /// Where it is measured: one, or all that a benchmark of all devices is shown; none on the host, and
    /// where no device is known of.
    std::vector<record::Device> devices{};
    std::string skip_reason; ///< not empty: it is not measured, and recorded as skipped
};
/// The case as it will be recorded before anything is measured (status interrupted).
record::Case empty_case(const PlannedCase& planned);
/// Where it is measured, as the record says it.
record::Place place_of(const PlannedCase& planned);

struct Plan {
    std::string suite;          ///< name of the suite, or "custom" for ids on the command line
    measure::Protocol protocol; ///< of cases that have none of their own
    int replicas = 3;
    Job job;                    ///< the hosts of teams; none: all on this machine
    bool fresh_workers = false; ///< a process of its own for each case, as turns need
    std::vector<PlannedCase> cases;
    std::string digest; ///< of all the above and the modules' build ids
    double expected_seconds = 0;
    std::vector<std::string> notes;    ///< what was left out and why, and what the budget means
    std::vector<std::string> left_out; ///< the former alone, for the record
};

struct PlanRequest {
    std::vector<std::string> what;        ///< a suite's name, a suite file's path, or benchmark ids
    std::vector<std::string> set;         ///< "id.param=value[,value...]"
    std::vector<std::string> only;        ///< ids, families or libraries to keep
    std::optional<double> budget_seconds; ///< for the whole run
    std::optional<int> replicas;
    std::vector<std::string> devices{}; ///< "all", indexes, UUIDs, PCI addresses; none: the first
    Job job{};                          ///< the hosts of teams
    record::Machine machine{}; ///< says how far ranges of values go ("8KiB..beyond_cache"), and
                               ///< which devices there are
};

} // namespace assay::harness
