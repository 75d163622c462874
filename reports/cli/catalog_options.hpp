// SPDX-License-Identifier: Apache-2.0
//
// The options of verbs about the catalogue of hardware, limits and fleets, for options.cpp, which knows the parser.

#pragma once

#include "base/text.hpp"
#include "offer_options.hpp"
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::report {

void add_limits(auto& verb, Options& o) {
    auto& l = o.limits;
    verb.add_option("action", l.action,
                    "lint: are files of limits right? show: which are in force, for a run's "
                    "machine? derive: limits from a fleet's runs")
        ->type_name("lint|show|derive")
        ->required();
    verb.add_option("inputs", o.inputs,
                    "Of lint and show: files of limits, or names of installed ones (spec), the "
                    "later ones on top; of show a run beside them. Of derive: runs")
        ->type_name("FILE|RUN")
        ->required();
    verb.add_option("--runs", l.runs, "Of lint: runs whose machines and cases limits may be for")
        ->type_name("PATH");
    verb.add_option("--by", l.by, "Of derive: what makes a type of machine")
        ->type_name("instance|cpu|device")
        ->capture_default_str();
    verb.add_option("--filter", l.filter, "Of derive: only these: KEY=A|B, KEY!=A; several: all")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    verb.add_option("--out", o.out, "Of derive: the file to write; required")->type_name("FILE");
    verb.add_option("--author", l.author, "Of derive: who answers for the limits")
        ->type_name("NAME");
    verb.add_option("--valid", l.valid, "Of derive: how long they hold, in days")
        ->type_name("DAYS")
        ->capture_default_str();
}

inline std::string fault_of_limits(Options& o) {
    auto& l = o.limits;
    const std::vector<std::string> actions{"lint", "show", "derive"};
    const std::vector<std::string> types{"instance", "cpu", "device"};
    if (std::ranges::count(actions, l.action) == 0)
        return fmt::format("limits has no \"{}\"{}", l.action, suggestion(l.action, actions));
    if (std::ranges::count(types, l.by) == 0)
        return fmt::format("--by \"{}\" is no type of machine{}", l.by, suggestion(l.by, types));
    if (l.action != "derive") return "";
    if (o.out.empty()) return "--out is missing: the file that the limits go to";
    return fault_of_days("--valid", l.valid, l.valid_days);
}

void add_catalog(auto& verb, Options& o) {
    verb.add_option("action", o.catalog_action,
                    "show: entries side by side, or the list of all. lint: are these files right?")
        ->type_name("show|lint")
        ->required();
    verb.add_option("inputs", o.inputs,
                    "Of show: instances, processors or accelerators, by id, name or a short name. "
                    "Of lint: files to look at, the installed ones where there are none")
        ->type_name("NAME|FILE");
    verb.add_option("--kind", o.kind, "Of show: only these")
        ->type_name("instances|processors|accelerators");
    add_catalog_files(verb, o);
}

inline std::string fault_of_catalog(const Options& o) {
    const std::vector<std::string> actions{"show", "lint"};
    const std::vector<std::string> kinds{"instances", "processors", "accelerators"};
    if (std::ranges::count(actions, o.catalog_action) == 0)
        return fmt::format("catalog has no \"{}\"{}", o.catalog_action,
                           suggestion(o.catalog_action, actions));
    if (!o.kind.empty() && std::ranges::count(kinds, o.kind) == 0)
        return fmt::format("--kind \"{}\" is not known{}", o.kind, suggestion(o.kind, kinds));
    return "";
}

void add_fleet(auto& verb, Options& o) {
    auto& f = o.fleet;
    verb.add_option("inputs", o.inputs,
                    "Folders that nodes wrote to (every run below), result files, globs")
        ->type_name("PATH")
        ->required();
    verb.add_option("--expect", f.expect,
                    "The nodes that there are: a file with a name or node[01-40] in each line, or "
                    "these themselves")
        ->type_name("FILE|NODES");
    verb.add_option("--since", o.since,
                    "The sweep: runs from this day on; a week before the newest otherwise. What "
                    "was before is last time")
        ->type_name("YYYY-MM-DD");
    verb.add_option("--by", f.how.by,
                    "What makes nodes of one type: instance (or the processor where there is "
                    "none), cpu, tag.KEY")
        ->type_name("KEY")
        ->capture_default_str();
    verb.add_option("--filter", f.how.filter, "Only these: KEY=A|B, KEY!=A; several: all")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    verb.add_option("--fail-on", o.fail_on, "End with 1 where a node is slow or wrong")
        ->type_name("slow");
    verb.add_option("--csv", o.csv, "Write a row for each node and benchmark; - is stdout")
        ->type_name("FILE");
}

} // namespace assay::report
