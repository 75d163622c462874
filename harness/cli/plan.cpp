// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include "cli/catalogue.hpp"
#include "cli/console.hpp"
#include "cli/summary.hpp"
#include "cli/verbs.hpp"
#include "json/json.hpp"
#include "launch/availability.hpp"
#include "machine/inventory.hpp"
#include "plan/manifest.hpp"
#include "plan/planner.hpp"
#include "plan/together.hpp"
#include "record/convert.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

std::string words_of(const record::NamedList& parameters) {
    std::string words;
    for (const auto& [name, value] : parameters)
        words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, record::to_string(value));
    return words;
}

/// "openblas"; "cuda@cuda:3" beyond the first device.
std::string library_of(const plan::PlannedCase& planned) {
    const auto place = plan::place_of(planned);
    return place.index == 0 ? planned.module->module
                            : fmt::format("{}@{}", planned.module->module, record::words_of(place));
}

/// Beyond so many, the sums say more than the cases.
constexpr std::size_t most_listed = 40;

struct Family {
    std::string name;
    std::size_t cases = 0;
    double seconds = 0;
};

/// In the order of the plan.
std::vector<Family> families_of(const plan::Plan& plan) {
    std::vector<Family> families;
    const auto steps = plan::expected_steps(plan);
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
        const auto& id = plan.cases[i].benchmark->id;
        const auto name = id.substr(0, id.find('.'));
        auto family = std::ranges::find(families, name, &Family::name);
        if (family == families.end()) family = families.insert(family, Family{.name = name});
        ++family->cases;
        family->seconds += steps[i] * plan::replicas_of(plan, plan.cases[i]);
    }
    return families;
}

std::string families_as_table(const plan::Plan& plan, const Terminal& terminal) {
    const auto families = families_of(plan);
    if (families.size() < 2) return {};
    TextTable table{{"FAMILY", "CASES", "TIME"}};
    for (const std::size_t column : {1U, 2U}) table.align_right(column);
    for (const auto& family : families)
        table.add({family.name, std::to_string(family.cases), duration_text(family.seconds)});
    return table.text(terminal);
}

std::string not_here_as_table(const plan::Plan& plan, const Terminal& terminal) {
    if (plan.not_here.empty()) return {};
    TextTable table{{"CANNOT RUN", "LIBRARY", "NEEDS", "PARAMETERS"}};
    for (const auto& planned : plan.not_here)
        table.add({planned.benchmark->id, planned.module->module, planned.missing,
                   words_of(plan::parameters_of(planned))});
    return table.text(terminal);
}

/// A line for each reason why modules cannot be used.
std::string unavailable_text(const plan::Plan& plan, const Terminal& terminal) {
    std::map<std::string, std::size_t> counts;
    for (const auto& planned : plan.cases)
        if (const auto why = launch::why_unavailable(*planned.module); !why.empty())
            ++counts[fmt::format("{}: {}", planned.module->module, why)];
    std::string out;
    for (const auto& [why, count] : counts)
        out += "Note: " +
               indented(fmt::format("{} case{} cannot run, module {}", count, count == 1 ? "" : "s",
                                    why),
                        6, terminal.width) +
               '\n';
    return out;
}

json::Value protocol_as_json(const record::Protocol& p) {
    return {{"target", p.target},
            {"min_seconds", p.min_seconds},
            {"budget_seconds", p.budget_seconds},
            {"limit_seconds", p.limit_seconds},
            {"warmup_seconds", p.warmup_seconds}};
}

std::string plan_as_table(const plan::Interleaving& turns, bool all) {
    const auto& plan = turns.runs.front().plan;
    const auto terminal = terminal_of(STDOUT_FILENO);
    std::string out;
    const auto add = [&out](const std::string& table) {
        if (!table.empty()) out += table + '\n';
    };
    const bool is_long = plan.cases.size() > most_listed;
    if (all || !is_long) add(cases_as_table(plan));
    if (all) add(not_here_as_table(plan, terminal));
    const auto cut = cut_note(out, "All parameters: add --json");
    add(families_as_table(plan, terminal));
    if (plan.soak_seconds)
        out += fmt::format("{}: {} case{}, repeated for {}; every result is compared\n", plan.suite,
                           plan.cases.size(), plan.cases.size() == 1 ? "" : "s",
                           duration_text(*plan.soak_seconds));
    else
        out += fmt::format("{}: {}\n", plan.suite, size_in_words(turns));
    const auto& p = plan.protocol;
    out += fmt::format(
        "Each is measured for {:g} to {:g} s, until its 95% interval is within ±{:g}%.\n",
        p.min_seconds, p.budget_seconds, p.target * 100);
    const auto shorter = std::ranges::count_if(plan.cases, [&](const plan::PlannedCase& planned) {
        return planned.protocol.budget_seconds < p.budget_seconds;
    });
    if (shorter > 0)
        out += fmt::format("{} case{} of curves get{} less time (--json shows it).\n", shorter,
                           shorter == 1 ? "" : "s", shorter == 1 ? "s" : "");
    out += unavailable_text(plan, terminal);
    for (const auto& note : plan.notes) out += "Note: " + indented(note, 6, terminal.width) + '\n';
    if (!all && (is_long || !plan.not_here.empty()))
        out += "Add --all to list every case, and those that cannot run on this machine.\n";
    return out + cut;
}

/// Cost of a plan on many nodes, each measured by itself: from undisturbed to all patience spent.
struct SweepCost {
    int nodes = 1;
    double least_seconds = 0; ///< of a node
    double most_seconds = 0;
    std::optional<double> price; ///< of a node and hour

    double node_hours(double seconds) const { return nodes * seconds / seconds_per_hour; }
    static constexpr double seconds_per_hour = 3600;
};
std::optional<SweepCost> sweep_cost(const plan::Interleaving& turns, const Options& options) {
    if (!options.nodes && !options.node_price) return std::nullopt;
    const auto time = time_of(turns);
    return SweepCost{.nodes = options.nodes.value_or(1),
                     .least_seconds = time.least,
                     .most_seconds = time.most,
                     .price = options.node_price};
}

std::string sweep_text(const SweepCost& cost) {
    const auto range = [](double least, double most, auto text) {
        return least == most ? text(least) : fmt::format("{} to {}", text(least), text(most));
    };
    const auto number = [](double value) {
        return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
    };
    const auto least = cost.node_hours(cost.least_seconds);
    const auto most = cost.node_hours(cost.most_seconds);
    auto text = fmt::format(
        "On {} node{} at the same time: {} (longer if other programs disturb the "
        "measurement), {} node-hours",
        cost.nodes, cost.nodes == 1 ? "" : "s",
        duration_range(cost.least_seconds, cost.most_seconds), range(least, most, number));
    if (cost.price)
        text += fmt::format(", cost {} at {:g} per node-hour, without start-up time and billing "
                            "steps",
                            range(least * *cost.price, most * *cost.price, number), *cost.price);
    return text + ".\n";
}
json::Value sweep_as_json(const SweepCost& cost) {
    json::Value document{
        {"nodes", cost.nodes},
        {"seconds", {cost.least_seconds, cost.most_seconds}},
        {"node_hours", {cost.node_hours(cost.least_seconds), cost.node_hours(cost.most_seconds)}}};
    if (cost.price) {
        document["price_per_node_hour"] = *cost.price;
        document["cost"] = {cost.node_hours(cost.least_seconds) * *cost.price,
                            cost.node_hours(cost.most_seconds) * *cost.price};
    }
    return document;
}

} // namespace

json::Value plan_as_json(const plan::Plan& plan) {
    json::Value document{{"schema", "assay.plan/1"},
                         {"suite", plan.suite},
                         {"digest", plan.digest},
                         {"replicas", plan.replicas},
                         {"protocol", protocol_as_json(plan.protocol)},
                         {"expected_seconds", plan.expected_seconds},
                         {"notes", plan.notes},
                         {"families", json::Value::array()},
                         {"cases", json::Value::array()},
                         {"not_here", json::Value::array()}};
    for (const auto& family : families_of(plan))
        document["families"].push_back({{"family", family.name},
                                        {"cases", family.cases},
                                        {"expected_seconds", family.seconds}});
    const auto case_as_json = [](const plan::PlannedCase& planned) {
        return json::Value{{"benchmark", planned.benchmark->id},
                           {"library", planned.module->module},
                           {"place", record::to_json(plan::place_of(planned))},
                           {"parameters", record::to_json(plan::parameters_of(planned))}};
    };
    for (const auto& planned : plan.cases) {
        auto item = case_as_json(planned);
        item["protocol"] = protocol_as_json(planned.protocol);
        item["with_previous"] = planned.with_previous;
        item["skipped"] = planned.skip_reason;
        item["unavailable"] = launch::why_unavailable(*planned.module);
        document["cases"].push_back(std::move(item));
    }
    for (const auto& planned : plan.not_here) {
        auto item = case_as_json(planned);
        item["needs"] = planned.missing;
        document["not_here"].push_back(std::move(item));
    }
    return document;
}

/// A plan that lasts as long as the time limit would often be cut: the estimate may be wrong by as much.
std::optional<double> budget_of(const Options& options) {
    constexpr double share = 0.85;
    if (!options.limit_seconds) return options.budget_seconds;
    const double most = *options.limit_seconds * share;
    return std::min(options.budget_seconds.value_or(most), most);
}

std::string cases_as_table(const plan::Plan& plan) {
    const auto terminal = terminal_of(STDOUT_FILENO);
    TextTable table{{"CASE", "BENCHMARK", "LIBRARY", "PARAMETERS"}};
    table.align_right(0);
    std::size_t number = 0;
    for (const auto& planned : plan.cases)
        table.add({std::to_string(++number), planned.benchmark->id, library_of(planned),
                   words_of(plan::parameters_of(planned))});
    return table.text(terminal);
}

Result<plan::Interleaving> runs_of(const plan::Catalogue& catalogue, const Options& options) {
    const bool alone = options.interleave.empty() && options.load.empty();
    if (alone && options.pairs)
        return fail("--pairs is the number of pairs of --interleave or --while: give one of them");
    const plan::PlanRequest request{.what = options.what,
                                    .set = options.set,
                                    .only = options.only,
                                    .exclude = options.exclude,
                                    .budget_seconds = budget_of(options),
                                    .replicas = alone ? options.replicas : options.pairs,
                                    .devices = options.devices,
                                    .together = options.together,
                                    .job = options.job,
                                    .soak_seconds = options.soak_seconds,
                                    .machine = machine::inspect({.core_clock = false})};
    if (!options.load.empty()) return plan::beside(catalogue, request, options.load);
    if (!alone) {
        ASSAY_TRY(const auto variants, plan::parse_variants(options.interleave));
        return plan::interleave(catalogue, request, variants);
    }
    ASSAY_TRY(auto plan, plan::make_plan(catalogue, request));
    return plan::Interleaving{.runs = {{.plan = plan}},
                              .expected_seconds = plan.expected_seconds,
                              .notes = std::move(plan.notes)};
}

void show_plan(const plan::Interleaving& turns, const Options& options) {
    if (turns.runs.size() > 1) return show_turns(turns, options);
    const auto& plan = turns.runs.front().plan;
    const auto sweep = sweep_cost(turns, options);
    if (options.json) {
        auto document = plan_as_json(plan);
        if (sweep) document["sweep"] = sweep_as_json(*sweep);
        print_json(json::to_text(document));
        return;
    }
    print(plan_as_table(turns, options.all));
    if (sweep) print(indented(sweep_text(*sweep), 0, terminal_of(STDOUT_FILENO).width));
}

ExitCode plan(const Options& options) {
    const auto catalogue = full_catalogue();
    if (const auto checked = check_problems(catalogue); !checked) return report(checked.error());
    const auto made = runs_of(catalogue, options);
    if (!made) return report(made.error());
    if (made->runs.size() > 1 && (options.nodes || options.node_price))
        return report(Error{"--nodes and --price are for plans without --interleave and --while"});
    show_plan(*made, options);
    return ExitCode::done;
}

} // namespace assay::cli
