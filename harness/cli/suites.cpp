// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "json/json.hpp"
#include "machine/inventory.hpp"
#include "plan/planner.hpp"
#include "plan/suite.hpp"

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

struct Row {
    plan::Suite suite;
    plan::Plan plan; ///< of what can run here, which may be nothing
};

Result<Row> row_of(const plan::Catalogue& catalogue, const record::Machine& machine,
                   const std::string& name) {
    ASSAY_TRY(auto suite, plan::read_suite(plan::find_suite(name)));
    auto plan = plan::make_plan(catalogue, {.what = {name}, .machine = machine});
    return Row{.suite = std::move(suite),
               .plan = plan ? std::move(*plan) : plan::Plan{.notes = {plan.error().message}}};
}

json::Value as_json(const Row& row) {
    const auto& [suite, plan] = row;
    return {{"name", suite.name},
            {"description", suite.description},
            {"file", suite.source},
            {"frozen", suite.is_frozen},
            {"digest", suite.digest},
            {"replicas", suite.replicas},
            {"cases", plan.cases.size()},
            {"expected_seconds", plan.expected_seconds},
            {"not_here", plan.not_here.size()},
            {"notes", plan.notes}};
}

} // namespace

ExitCode list_suites(const plan::Catalogue& catalogue, const Options& options) {
    const auto machine = machine::inspect({.core_clock = false});
    json::Value document{{"schema", "assay.suites/1"}, {"suites", json::Value::array()}};
    TextTable table{{"SUITE", "CASES", "CANNOT RUN", "TIME", "FROZEN"}};
    for (const std::size_t column : {1U, 2U, 3U}) table.align_right(column);
    std::vector<std::string> purposes;
    for (const auto& name : plan::suite_names()) {
        const auto row = row_of(catalogue, machine, name);
        if (!row) return report(row.error());
        document["suites"].push_back(as_json(*row));
        table.add({row->suite.name, std::to_string(row->plan.cases.size()),
                   std::to_string(row->plan.not_here.size()),
                   row->plan.cases.empty() ? "-" : duration_text(row->plan.expected_seconds),
                   row->suite.is_frozen ? "yes" : "no"});
        purposes.push_back(row->suite.description);
    }
    if (options.json)
        print_json(json::to_text(document));
    else
        print(table_with_texts(table, "PURPOSE", purposes, terminal_of(STDOUT_FILENO)) +
              "\nCASES and TIME are those on this machine; a frozen suite never changes.\n"
              "Cases that cannot run, and why: assay plan SUITE --all\n");
    return ExitCode::done;
}

} // namespace assay::cli
