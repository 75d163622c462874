// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/limits.hpp"
#include "fleet/derive.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace assay::fleet {
namespace {

using namespace document;
using record::human;
using record::human_percent;

constexpr double slowdown_asked = 0.05;
constexpr double vendor_risk = 0.05;
constexpr double buyer_power = 0.95;
constexpr double soak_risk = 0.1;
constexpr std::array ratios{1.5, 2.0, 3.0, 5.0};

std::string part(const std::optional<double>& deviation) {
    return deviation ? human_percent(*deviation) : "-";
}

Cell share(double value) {
    if (!std::isfinite(value)) return {};
    return {.text = human_percent(value), .number = value, .unit = unit_share};
}

double bound_of(const judge::Limit& limit) {
    return limit.at_least ? *limit.at_least : *limit.at_most;
}

Table bounds_of(const Derivation& derivation) {
    Table table{.columns = {{.title = say<text::limits::test_item>()},
                            {.title = say<text::limits::median>(), .numeric = true},
                            {.title = say<text::limits::bound>(), .numeric = true},
                            {.title = say<text::limits::nodes>(), .numeric = true, .rank = 1}},
                .sheet = say<text::limits::kicker>()};
    for (const auto& derived : derivation.limits) {
        const auto& limit = derived.limit;
        const auto& spread = *limit.spread;
        const double bound = bound_of(limit);
        table.rows.push_back(
            {.cells = {{.text = derived.what,
                        .notes = {say<text::limits::spread_parts>(
                            part(spread.node), part(spread.device), part(spread.day),
                            part(spread.run), part(spread.replica))}},
                       {.text = human(*limit.center, limit.unit),
                        .number = limit.center,
                        .unit = limit.unit},
                       {.text = human(bound, limit.unit),
                        .detail = fmt::format("{}{}", limit.at_least ? "-" : "+",
                                              human_percent(std::abs(1 - bound / *limit.center))),
                        .number = bound,
                        .unit = limit.unit},
                       count_cell(*limit.samples)},
             .group = derived.group});
    }
    return table;
}

Table found_of(const Derivation& derivation) {
    Table table{.columns = {{.title = say<text::limits::test_item>()},
                            {.title = say<text::limits::found_by_retests>(), .numeric = true}},
                .sheet = say<text::limits::found_title>()};
    for (const auto replicas : decide::fail_looks)
        table.columns.push_back(
            {.title = say<text::limits::found_after>(replicas), .numeric = true, .rank = 1});
    for (const auto& derived : derivation.limits) {
        Row row{.cells = {{.text = derived.what}, share(derived.slowdown)}, .group = derived.group};
        for (const auto found : derived.by_replicas) row.cells.push_back(share(found));
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// The repeats that a limit needs: the items that are easiest and hardest to judge, and the middle one.
Chart repeats_of(const Derivation& derivation) {
    std::vector<const DerivedLimit*> items;
    for (const auto& derived : derivation.limits)
        if (std::isfinite(derived.by_replicas.back())) items.push_back(&derived);
    std::ranges::sort(items, {}, [](const auto* one) { return one->by_replicas.back(); });
    CurveChart data{.unit = "%",
                    .y_title = say<text::limits::slowdown_found>(),
                    .x_title = say<text::limits::replicas>(),
                    .higher_is_better = false};
    const std::set<std::size_t> shown{0, items.size() / 2, items.size() - 1};
    for (const auto which : items.empty() ? std::set<std::size_t>{} : shown) {
        Curve curve{.label = items[which]->what};
        for (std::size_t i = 0; i < decide::fail_looks.size(); ++i) {
            const double slowdown = items[which]->by_replicas.at(i);
            if (!std::isfinite(slowdown)) continue;
            const auto replicas = decide::fail_looks.at(i);
            curve.points.push_back({.x = static_cast<double>(replicas),
                                    .x_text = std::to_string(replicas),
                                    .y = 100 * slowdown,
                                    .y_text = human_percent(slowdown)});
        }
        data.curves.push_back(std::move(curve));
    }
    return {.title = say<text::limits::repeats_title>(), .data = std::move(data)};
}

/// The probability that a node which is 5% slower in every item passes, if items were independent.
double passes_when_all_slow(const Derivation& derivation) {
    double passes = 1;
    for (const auto& derived : derivation.limits)
        passes *= decide::fleet_false_accept(derived.bounds, slowdown_asked);
    return passes;
}

/// The smallest share of bad nodes with which more than `allowed` of so many fail in 95%.
double refused_from(std::size_t allowed, std::size_t nodes) {
    double low = 0;
    double high = 1;
    constexpr int steps = 50; // halved to the last digit
    for (int i = 0; i < steps; ++i) {
        const double middle = (low + high) / 2;
        (decide::probability_of_at_most(allowed, nodes, middle) > 1 - buyer_power ? low : high) =
            middle;
    }
    return high;
}

struct Delivery {
    std::size_t nodes;
    std::size_t allowed;
    double vendor; ///< risk
    double refused;
};
ASSAY_FIELDS(Delivery, nodes, allowed, (record.vendor, "vendor_risk"),
             (record.refused, "refused_from"))
std::vector<Delivery> deliveries_of(const Derivation& derivation) {
    std::vector<Delivery> all;
    for (const auto nodes : std::set<std::size_t>{derivation.nodes, 10, 100, 1000}) {
        const auto allowed = decide::allowed_failures(nodes, derivation.rule.accuse, vendor_risk);
        all.push_back(
            {.nodes = nodes,
             .allowed = allowed,
             .vendor = 1 - decide::probability_of_at_most(allowed, nodes, derivation.rule.accuse),
             .refused = refused_from(allowed, nodes)});
    }
    return all;
}

Table plan_of(const Derivation& derivation) {
    Table table{.columns = {{.title = say<text::limits::delivered>(), .numeric = true},
                            {.title = say<text::limits::may_fail>(), .numeric = true},
                            {.title = say<text::limits::vendor_risk>(), .numeric = true},
                            {.title = say<text::limits::refused_from>(), .numeric = true}},
                .sheet = say<text::limits::plan_title>()};
    for (const auto& one : deliveries_of(derivation))
        table.rows.push_back({.cells = {count_cell(one.nodes), count_cell(one.allowed),
                                        share(one.vendor), share(one.refused)}});
    return table;
}

struct Soak {
    double ratio;
    decide::ReliabilityPlan plan;
};
ASSAY_FIELDS(Soak, ratio, (record.plan.allowed, "allowed"), (record.plan.length, "length"))
std::vector<Soak> soaks() {
    std::vector<Soak> all;
    for (const double ratio : ratios)
        if (const auto plan = decide::reliability_plan(ratio, soak_risk, soak_risk))
            all.push_back({ratio, *plan});
    return all;
}

Table lengths() {
    Table table{.columns = {{.title = say<text::limits::ratio>(), .numeric = true},
                            {.title = say<text::limits::may_fail>(), .numeric = true},
                            {.title = say<text::limits::length>(), .numeric = true}},
                .sheet = say<text::limits::length_title>()};
    for (const auto& [ratio, plan] : soaks())
        table.rows.push_back(
            {.cells = {{.text = fmt::format("{:g}", ratio), .number = ratio, .unit = unit_ratio},
                       count_cell(plan.allowed),
                       {.text = fmt::format("{:.2f}", plan.length),
                        .number = plan.length,
                        .unit = unit_ratio}}});
    return table;
}

struct Look {
    std::size_t replicas;
    double slowdown;
};
ASSAY_FIELDS(Look, replicas, slowdown)
std::vector<Look> looks_of(const DerivedLimit& derived) {
    std::vector<Look> looks;
    for (std::size_t i = 0; i < derived.by_replicas.size(); ++i)
        looks.push_back({decide::fail_looks.at(i), derived.by_replicas.at(i)});
    return looks;
}

/// The checks that a node slower by 5% in one item meets.
struct Found {
    std::size_t items = 0; ///< in which it is found in 99%
    double worst = 0;      ///< probability of passing
    std::string where;
};
Found found_at(const Derivation& derivation) {
    Found found;
    for (const auto& derived : derivation.limits) {
        const double passes = decide::fleet_false_accept(derived.bounds, slowdown_asked);
        if (passes <= 1 - derivation.rule.power) ++found.items;
        if (passes < found.worst) continue;
        found.worst = passes;
        found.where = derived.what;
    }
    return found;
}

std::vector<std::string> remarks_of(const Derivation& derivation) {
    std::vector<std::string> lines;
    std::size_t left_out = 0;
    std::size_t free = 0;
    bool runs = false;
    for (const auto& derived : derivation.limits) {
        left_out += derived.left_out;
        free += derived.without_distribution ? 1 : 0;
        runs = runs || derived.limit.spread->run.has_value();
    }
    if (!runs && derivation.runs == derivation.nodes) lines.push_back(say<text::limits::one_run>());
    if (left_out > 0) lines.push_back(say_count<text::limits::left_out>(left_out));
    if (derivation.too_few > 0)
        lines.push_back(say_count<text::limits::too_few>(derivation.too_few, fewest_nodes));
    if (derivation.not_ours > 0)
        lines.push_back(say_count<text::limits::not_ours>(derivation.not_ours));
    if (!derivation.problems.empty())
        lines.push_back(say_count<text::limits::problems>(derivation.problems.size()));
    if (free > 0) lines.push_back(say_count<text::limits::no_distribution>(free));
    if (free < derivation.limits.size())
        lines.push_back(say<text::limits::distribution>(decide::nodes_without_distribution(
            derivation.rule.accuse / static_cast<double>(derivation.items))));
    return lines;
}

} // namespace

Document make_document(const Derivation& derivation) {
    const auto found = found_at(derivation);
    Document document{
        .kind = "derivation",
        .kicker = say<text::limits::kicker>(),
        .title =
            say<text::limits::derive_title>(say_count<text::limits::of_nodes>(derivation.nodes)),
        .verdict = sentences(
            {say<text::limits::derive_verdict>(
                 say_count<text::limits::limits_of>(derivation.limits.size()),
                 human_percent(derivation.rule.accuse), derivation.items),
             say<text::limits::derive_found>(found.items, derivation.limits.size(),
                                             human_percent(found.worst), found.where),
             say<text::limits::derive_all_slow>(human_percent(passes_when_all_slow(derivation)))})};
    Section bounds{.title = say<text::limits::kicker>(), .blocks = {bounds_of(derivation)}};
    for (const auto& line : remarks_of(derivation))
        bounds.blocks.emplace_back(Paragraph{.text = line, .tone = Tone::quiet});
    document.sections.push_back(std::move(bounds));
    document.sections.push_back({.title = say<text::limits::found_title>(),
                                 .question = say<text::limits::found_question>(),
                                 .blocks = {found_of(derivation), repeats_of(derivation)}});
    document.sections.push_back({.title = say<text::limits::plan_title>(),
                                 .question = say<text::limits::plan_question>(),
                                 .blocks = {plan_of(derivation)}});
    document.sections.push_back({.title = say<text::limits::length_title>(),
                                 .question = say<text::limits::length_question>(),
                                 .blocks = {lengths()}});
    return document;
}

ASSAY_FIELDS(DerivedLimit, (record.limit.id, "limit"), group, left_out, without_distribution,
             slowdown, (looks_of(record), "by_replicas"),
             (decide::fleet_false_accept(record.bounds, slowdown_asked),
              "false_accept_at_5_percent"))
ASSAY_FIELDS(Derivation, nodes, runs, items, (record.rule.accuse, "false_reject"),
             (record.rule.power, "power"),
             (passes_when_all_slow(record), "false_accept_at_5_percent_in_all"), limits,
             (deliveries_of(record), "deliveries"), (soaks(), "soaks"), too_few,
             (record.problems.size(), "problems"))

std::string to_json(const Derivation& derivation) {
    return json::to_text(json::encode(derivation));
}

} // namespace assay::fleet
