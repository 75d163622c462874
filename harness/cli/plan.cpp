// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "doctor/availability.hpp"
#include "json/json.hpp"
#include "machine/inventory.hpp"
#include "plan/planner.hpp"
#include "record/convert.hpp"
#include "registry/catalogue.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

namespace assay::cli {
namespace {

std::string words_of(const record::NamedList& parameters) {
    std::string words;
    for (const auto& [name, value] : parameters)
        words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, record::to_string(value));
    return words;
}

/// "openblas"; "cuda@cuda:3" beyond the first device.
std::string library_of(const harness::PlannedCase& planned) {
    const auto place = harness::place_of(planned);
    return place.index == 0 ? planned.module->module
                            : fmt::format("{}@{}", planned.module->module, record::words_of(place));
}

json::Value protocol_as_json(const measure::Protocol& p) {
    return {{"target", p.target},
            {"min_seconds", p.min_seconds},
            {"budget_seconds", p.budget_seconds},
            {"limit_seconds", p.limit_seconds},
            {"warmup_seconds", p.warmup_seconds}};
}

std::string plan_as_table(const harness::Plan& plan) {
    const auto terminal = terminal_of(STDOUT_FILENO);
    std::string out = cases_as_table(plan);
    out += fmt::format("\n{}: {} cases x {} replicas, about {} (min:s)\n", plan.suite,
                       plan.cases.size(), plan.replicas, clock_text(plan.expected_seconds));
    const auto& p = plan.protocol;
    out += fmt::format(
        "Each is measured for {:g} to {:g} s, until its 95% interval is within ±{:g}%.\n",
        p.min_seconds, p.budget_seconds, p.target * 100);
    const auto shorter =
        std::ranges::count_if(plan.cases, [&](const harness::PlannedCase& planned) {
            return planned.protocol.budget_seconds < p.budget_seconds;
        });
    if (shorter > 0)
        out += fmt::format("{} of them, points of curves, get less time; see --json.\n", shorter);
    for (const auto& note : plan.notes) out += "Note: " + indented(note, 6, terminal.width) + '\n';
    return out;
}

} // namespace

json::Value plan_as_json(const harness::Plan& plan) {
    json::Value document{{"suite", plan.suite},
                         {"digest", plan.digest},
                         {"replicas", plan.replicas},
                         {"protocol", protocol_as_json(plan.protocol)},
                         {"expected_seconds", plan.expected_seconds},
                         {"notes", plan.notes},
                         {"cases", json::Value::array()}};
    for (const auto& planned : plan.cases)
        document["cases"].push_back({{"benchmark", planned.benchmark->id},
                                     {"library", planned.module->module},
                                     {"place", record::to_json(harness::place_of(planned))},
                                     {"parameters", record::to_json(planned.parameters)},
                                     {"protocol", protocol_as_json(planned.protocol)},
                                     {"skipped", planned.skip_reason},
                                     {"unavailable", harness::why_unavailable(*planned.module)}});
    return document;
}

std::string cases_as_table(const harness::Plan& plan) {
    const auto terminal = terminal_of(STDOUT_FILENO);
    Table table{{"CASE", "BENCHMARK", "LIBRARY", "PARAMETERS"}};
    table.align_right(0);
    std::size_t number = 0;
    for (const auto& planned : plan.cases)
        table.add({std::to_string(++number), planned.benchmark->id, library_of(planned),
                   words_of(planned.parameters)});
    return table.text(terminal);
}

Result<harness::Interleaving> runs_of(const harness::Catalogue& catalogue, const Options& options) {
    const bool alone = options.interleave.empty();
    const harness::PlanRequest request{.what = options.what,
                                       .set = options.set,
                                       .only = options.only,
                                       .budget_seconds = options.budget_seconds,
                                       .replicas = alone ? options.replicas : options.pairs,
                                       .devices = options.devices,
                                       .job = options.job,
                                       .machine = machine::inspect({.core_clock = false})};
    if (!alone) {
        const auto variants = harness::parse_variants(options.interleave);
        if (!variants) return tl::unexpected{variants.error()};
        return harness::interleave(catalogue, request, *variants);
    }
    auto plan = harness::make_plan(catalogue, request);
    if (!plan) return tl::unexpected{plan.error()};
    return harness::Interleaving{.runs = {{.plan = *plan}},
                                 .expected_seconds = plan->expected_seconds,
                                 .notes = std::move(plan->notes)};
}

void show_plan(const harness::Interleaving& turns, const Options& options) {
    if (turns.runs.size() > 1) return show_turns(turns, options);
    const auto& plan = turns.runs.front().plan;
    print(options.json ? json::to_text(plan_as_json(plan)) : plan_as_table(plan));
}

ExitCode plan(const Options& options) {
    const auto catalogue = harness::read_catalogue();
    if (const auto checked = check_problems(catalogue); !checked) return report(checked.error());
    const auto made = runs_of(catalogue, options);
    if (!made) return report(made.error());
    show_plan(*made, options);
    return ExitCode::done;
}

} // namespace assay::cli
