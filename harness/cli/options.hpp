// SPDX-License-Identifier: Apache-2.0
//
// The parsed command line: the options of every verb, or what to print instead. Nothing is printed or
// run here.

#pragma once

#include "base/result.hpp"
#include "plan/groups.hpp"
#include "plan/hosts.hpp"
#include "run/run_folder.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::cli {

enum class Verb : std::uint8_t { doctor, list, describe, plan, run, manifest };

struct Options : run::RunOptions {
    Verb verb = Verb::list;
    std::vector<std::string> what; ///< suites, ids, or the verb's file
    std::vector<std::string> set;
    std::vector<std::string> only;
    std::vector<std::string> exclude;
    std::vector<std::string> devices; ///< "all", "0", "GPU-..."
    std::string together;             ///< "sockets", "cpus:2"
    std::string load;                 ///< of --while
    std::optional<double> budget_seconds;
    std::optional<int> replicas;
    std::vector<plan::HostGroups> groups;
    std::optional<double> soak_seconds;  ///< of --for
    plan::Job job;                       ///< hosts of teams
    std::vector<std::string> interleave; ///< variants that alternate
    std::optional<int> pairs;
    bool check = false;               ///< hold the run against limits
    std::vector<std::string> limits;  ///< files, or names of installed ones
    std::string language = "en";      ///< of the report
    std::vector<std::string> fail_on; ///< statuses: "unstable", "disturbed"
    bool dry_run = false;
    bool json = false;
    bool quiet = false;
    bool open = false;
    bool all = false;
    bool suites = false;
    bool metrics = false;
    std::optional<int> nodes;                 ///< of a sweep whose cost is asked
    std::optional<double> node_price;         ///< of a node and hour, in any currency
    bool install = false;                     ///< of describe: say what its programs need
    bool yes = false;                         ///< and install it
    std::vector<std::string> allowed_devices; ///< whose data may be lost
};

/// Options; or, without them, what to print and the exit code (help, version, errors).
struct Parsed {
    std::optional<Options> options;
    ExitCode code = ExitCode::done;
    std::string output; ///< for stdout
    std::string error;  ///< for stderr
};
Parsed parse_options(const std::vector<std::string>& arguments);

} // namespace assay::cli
