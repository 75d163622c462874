// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "doctor/availability.hpp"
#include "json/json.hpp"
#include "registry/catalogue.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <string>

namespace assay::cli {
namespace {

void list_as_json(const harness::Catalogue& catalogue) {
    json::Value document{{"benchmarks", json::Value::array()}, {"problems", json::Value::array()}};
    for (const auto& module : catalogue.modules) {
        const auto why = harness::why_unavailable(module);
        for (const auto& benchmark : module.benchmarks)
            document["benchmarks"].push_back({{"id", benchmark.id},
                                              {"library", module.module},
                                              {"place", benchmark.place},
                                              {"question", benchmark.question},
                                              {"available", why.empty()},
                                              {"reason", why}});
    }
    for (const auto& problem : catalogue.problems) document["problems"].push_back(problem.message);
    print(json::to_text(document));
}

void list_as_table(const harness::Catalogue& catalogue) {
    const auto terminal = terminal_of(STDOUT_FILENO);
    Table table{{"BENCHMARK", "LIBRARY", "RUNS ON", "QUESTION"}};
    for (const auto& module : catalogue.modules) {
        const auto why = harness::why_unavailable(module);
        for (const auto& benchmark : module.benchmarks)
            table.add({benchmark.id, module.module, benchmark.place,
                       why.empty() ? benchmark.question : "unavailable: " + why});
    }
    print(table.text(terminal));
}

} // namespace

ExitCode list(const Options& options) {
    const auto catalogue = harness::read_catalogue();
    if (options.json) {
        list_as_json(catalogue);
    } else {
        list_as_table(catalogue);
        warn_of_problems(catalogue);
    }
    if (!catalogue.modules.empty()) return ExitCode::done;
    if (!options.json)
        return report(
            {"no module found; ASSAY_MODULE_PATH lists folders to search", Fault::environment});
    return ExitCode::environment;
}

} // namespace assay::cli
