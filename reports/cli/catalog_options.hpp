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
    add_value(verb, "action", l.action, "init|lint|show|derive",
              "init: a commented example from a run of this machine. lint: are files of limits "
              "right? show: which are in force, for a run's machine? derive: limits from a "
              "fleet's runs")
        ->required();
    add_value(verb, "inputs", o.inputs, "FILE|RUN",
              "Of lint and show: files of limits, or names of installed ones (spec), the later "
              "ones on top; of show a run beside them. Of init and derive: runs")
        ->required();
    verb.add_option("--runs", l.runs, "Of lint: runs whose machines and cases limits may be for")
        ->type_name("PATH");
    add_default(verb, "--by", l.by, "instance|cpu|device",
                "Of derive: what makes a type of machine");
    add_many(verb, "--filter", l.filter, "KEY=VALUE",
             "Of derive: only these: KEY=A|B, KEY!=A; several: all");
    verb.add_option("--out", o.out, "Of init: a new file, or stdout; of derive: required")
        ->type_name("FILE");
    add_value(verb, "--author", l.author, "NAME", "Of init and derive: who answers for the limits");
    add_default(verb, "--valid", l.valid, "DAYS", "Of init and derive: how long they hold");
}

inline std::string fault_of_limits(Options& o) {
    auto& l = o.limits;
    const std::vector<std::string> actions{"init", "lint", "show", "derive"};
    const std::vector<std::string> types{"instance", "cpu", "device"};
    if (std::ranges::count(actions, l.action) == 0)
        return fmt::format("limits has no \"{}\"{}", l.action, suggestion(l.action, actions));
    if (std::ranges::count(types, l.by) == 0)
        return fmt::format("--by \"{}\" is no type of machine{}", l.by, suggestion(l.by, types));
    if (l.action != "derive" && l.action != "init") return "";
    if (o.out.empty() && l.action == "derive")
        return "--out is missing: the file that the limits go to";
    return fault_of_days("--valid", l.valid, l.valid_days);
}

void add_catalog(auto& verb, Options& o) {
    add_value(verb, "inputs", o.inputs, "[show] NAME",
              "Instances, processors or accelerators, by id, name or a short name (default: list "
              "all)");
    add_value(verb, "--kind", o.kind, "instances|processors|accelerators", "Only these");
    add_catalog_files(verb, o);
}

inline std::string fault_of_catalog(Options& o) {
    if (!o.inputs.empty() && o.inputs.front() == "show") o.inputs.erase(o.inputs.begin());
    const std::vector<std::string> kinds{"instances", "processors", "accelerators"};
    if (!o.kind.empty() && std::ranges::count(kinds, o.kind) == 0)
        return fmt::format("--kind \"{}\" is not known{}", o.kind, suggestion(o.kind, kinds));
    return "";
}

void add_fleet(auto& verb, Options& o) {
    auto& f = o.fleet;
    add_value(verb, "inputs", o.inputs, "PATH",
              "Folders that nodes wrote to (every run below), result files, globs")
        ->required();
    add_value(verb, "--expect", f.expect, "FILE|NODES",
              "The nodes that there are: a file with a name or node[01-40] in each line, or these "
              "themselves");
    add_value(verb, "--since", o.since, "YYYY-MM-DD",
              "The sweep: runs from this day on; a week before the newest otherwise. What was "
              "before is last time");
    add_default(verb, "--by", f.how.by, "KEY",
                "What makes nodes of one type: instance (or the processor where there is none), "
                "cpu, tag.KEY");
    add_many(verb, "--filter", f.how.filter, "KEY=VALUE",
             "Only these: KEY=A|B, KEY!=A; several: all");
    add_value(verb, "--fail-on", o.fail_on, "slow", "End with 1 where a node is slow or wrong");
    add_value(verb, "--csv", o.csv, "FILE", "Write a row for each node and benchmark; - is stdout");
}

} // namespace assay::reports_cli
