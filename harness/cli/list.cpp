// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogue.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "json/json.hpp"
#include "launch/availability.hpp"
#include "machine/inventory.hpp"
#include "plan/device_choice.hpp"
#include "plan/manifest.hpp"
#include "record/metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::cli {
namespace {

/// Why a benchmark cannot run here, as far as it shows without loading its module or asking a driver.
class Availability {
public:
    std::string why_not(const plan::Manifest& module, const plan::Benchmark& benchmark) {
        const auto known = modules_.find(module.module);
        const auto& why =
            known != modules_.end()
                ? known->second
                : modules_.emplace(module.module, launch::why_unavailable(module)).first->second;
        if (!why.empty()) return why;
        if (plan::may_run_here(benchmark, machine_)) return "";
        return benchmark.place == "hip" ? "this machine has no AMD device"
                                        : "this machine has no CUDA device";
    }

private:
    record::Machine machine_ = machine::inspect({.core_clock = false, .devices = false});
    std::map<std::string, std::string> modules_;
};

void list_as_json(const plan::Catalogue& catalogue) {
    Availability here;
    json::Value document{{"schema", "assay.list/1"},
                         {"benchmarks", json::Value::array()},
                         {"problems", json::Value::array()}};
    for (const auto& module : catalogue.modules)
        for (const auto& benchmark : module.benchmarks) {
            const auto why = here.why_not(module, benchmark);
            document["benchmarks"].push_back({{"id", benchmark.id},
                                              {"library", module.module},
                                              {"place", benchmark.place},
                                              {"question", benchmark.question},
                                              {"available", why.empty()},
                                              {"reason", why}});
        }
    for (const auto& problem : catalogue.problems) document["problems"].push_back(problem.message);
    print_json(json::to_text(document));
}

void list_as_table(const plan::Catalogue& catalogue) {
    Availability here;
    const auto terminal = terminal_of(STDOUT_FILENO);
    TextTable table{{"BENCHMARK", "LIBRARY", "RUNS ON", "READY", "QUESTION"}};
    std::map<std::string, std::set<std::string>> reasons; // the modules of each
    for (const auto& module : catalogue.modules)
        for (const auto& benchmark : module.benchmarks) {
            const auto why = here.why_not(module, benchmark);
            if (!why.empty()) reasons[why].insert(module.module);
            table.add({benchmark.id, module.module, benchmark.place, why.empty() ? "yes" : "no",
                       benchmark.question});
        }
    const auto text = table.text(terminal);
    print(text + '\n' + cut_note(text, "Whole questions: assay list --json"));
    for (const auto& [why, modules] : reasons)
        print(
            indented(fmt::format("Not ready: {} (benchmarks of {})", why, fmt::join(modules, ", ")),
                     2, terminal.width) +
            '\n');
    print("Method, caveats and parameters of a benchmark: assay describe memory.stream\n");
}

ExitCode list_metrics(bool as_json) {
    if (as_json) {
        json::Value document{{"schema", "assay.metrics/1"}, {"metrics", json::Value::array()}};
        for (const auto& metric : record::metric_table)
            document["metrics"].push_back({{"name", metric.name},
                                           {"unit", metric.unit},
                                           {"higher_is_better", metric.higher_is_better},
                                           {"work", metric.work},
                                           {"title", metric.title}});
        print_json(json::to_text(document));
        return ExitCode::done;
    }
    TextTable table{{"METRIC", "UNIT", "BETTER", "WORK"}};
    std::vector<std::string> titles;
    for (const auto& metric : record::metric_table) {
        table.add({std::string{metric.name}, std::string{metric.unit},
                   metric.higher_is_better ? "higher" : "lower", std::string{metric.work}});
        titles.emplace_back(metric.title);
    }
    const auto terminal = terminal_of(STDOUT_FILENO);
    print(table_with_texts(table, "MEANING", titles, terminal) + '\n' +
          indented("WORK is the amount that is divided by the time, or for a latency the number of "
                   "steps that share it.",
                   0, terminal.width) +
          '\n');
    return ExitCode::done;
}

} // namespace

ExitCode list(const Options& options) {
    if (options.metrics) return list_metrics(options.json);
    const auto catalogue = full_catalogue();
    if (options.suites) return list_suites(catalogue, options);
    if (options.json) {
        list_as_json(catalogue);
    } else {
        list_as_table(catalogue);
        warn_of_problems(catalogue);
    }
    if (!catalogue.modules.empty()) return ExitCode::done;
    if (!options.json)
        return report({"no modules found; ASSAY_MODULE_PATH lists the folders to search",
                       Fault::environment});
    return ExitCode::environment;
}

} // namespace assay::cli
