// SPDX-License-Identifier: Apache-2.0
//
// The options of verbs about the catalogue of hardware, limits and fleets, for options.cpp, which knows the parser.

#pragma once

#include "base/command_line.hpp"
#include "base/text.hpp"
#include "offer_options.hpp"
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::reports_cli {

void add_limits(auto& verb, Options& o) {
    auto& l = o.limits;
    add_value(
        verb, "action", l.action, "init|lint|show|derive",
        "init: example from a run of this machine; lint: check files; show: limits in force for "
        "a run; derive: from a fleet's runs")
        ->required();
    add_value(
        verb, "inputs", o.inputs, "FILE|RUN",
        "lint, show: limits files or installed names (spec), later ones override, and for show "
        "a run; init, derive: runs")
        ->required();
    add_value(verb, "--runs", l.runs, "PATH",
              "lint: runs with the machines and cases that limits may apply to");
    add_default(verb, "--by", l.by, "instance|cpu|device", "derive: group machines by");
    add_many(verb, "--filter", l.filter, "KEY=VALUE",
             "derive: keep only what matches: KEY=A|B, KEY!=A; several must all match");
    add_value(verb, "--out", o.out, "FILE", "init: new file (default: stdout); derive: required");
    add_value(verb, "--author", l.author, "NAME",
              "init, derive: who is responsible for the limits");
    add_default(verb, "--valid", l.valid, "DAYS", "init, derive: validity of the limits");
}

inline std::string fault_of_limits(Options& o) {
    auto& l = o.limits;
    const std::vector<std::string> actions{"init", "lint", "show", "derive"};
    const std::vector<std::string> types{"instance", "cpu", "device"};
    if (std::ranges::count(actions, l.action) == 0)
        return fmt::format("limits: unknown action \"{}\"{}", l.action,
                           suggestion(l.action, actions));
    if (std::ranges::count(types, l.by) == 0)
        return fmt::format("--by: unknown type of machine \"{}\"{}", l.by, suggestion(l.by, types));
    if (l.action != "derive" && l.action != "init") return "";
    if (o.out.empty() && l.action == "derive") return "--out is missing: the limits file to write";
    return fault_of_days("--valid", l.valid, l.valid_days);
}

void add_catalog(auto& verb, Options& o) {
    add_value(verb, "inputs", o.inputs, "[show] NAME",
              "Instances, processors or accelerators by id, name or short name (default: all)");
    add_value(verb, "--kind", o.kind, "instances|processors|accelerators", "Only this kind");
    add_catalog_files(verb, o);
}

inline std::string fault_of_catalog(Options& o) {
    if (!o.inputs.empty() && o.inputs.front() == "show") o.inputs.erase(o.inputs.begin());
    const std::vector<std::string> kinds{"instances", "processors", "accelerators"};
    if (!o.kind.empty() && std::ranges::count(kinds, o.kind) == 0)
        return fmt::format("--kind: unknown kind \"{}\"{}", o.kind, suggestion(o.kind, kinds));
    return "";
}

void add_fleet(auto& verb, Options& o) {
    auto& f = o.fleet;
    add_value(verb, "inputs", o.inputs, "PATH",
              "Folders of the nodes' runs (all runs below), result files or globs")
        ->required();
    add_value(verb, "--expect", f.expect, "FILE|NODES",
              "Nodes that must be present: node[01-40], or a file with one such item per line");
    add_value(verb, "--since", o.since, "YYYY-MM-DD",
              "First day of the sweep (default: a week before the newest run); earlier runs are "
              "\"last time\"");
    add_default(verb, "--by", f.how.by, "KEY",
                "Group nodes by: instance (processor if unknown), cpu, tag.KEY");
    add_many(verb, "--filter", f.how.filter, "KEY=VALUE",
             "Keep only what matches: KEY=A|B, KEY!=A; several must all match");
    add_value(verb, "--fail-on", o.fail_on, "slow", "Exit with 1 if a node is slow or wrong");
    add_value(verb, "--csv", o.csv, "FILE", "Write CSV: one row per node and benchmark (-: stdout)")
        ->group("Output");
}

} // namespace assay::reports_cli
