// SPDX-License-Identifier: Apache-2.0
//
// The options of the verb about fleets, for options.cpp, which knows the parser.

#pragma once

#include "options.hpp"

namespace assay::report {

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
