// SPDX-License-Identifier: Apache-2.0

#include "compare/alternatives.hpp"

#include "compare/document.hpp"
#include "compare/words.hpp"
#include "language/language.hpp"
#include "language/texts/compare.hpp"
#include "offers/document.hpp"
#include "report/text.hpp"
#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

constexpr std::size_t most_sides = 8;
constexpr std::size_t most_cells =
    30'000; // of all alternatives; one takes about 150 bytes of a page
constexpr std::size_t most_observations = 2'000'000; // read again for all of them: a few seconds

std::size_t cells_of(const Comparison& comparison) {
    std::size_t rows = 0;
    for (const auto* tables : {&comparison.tables, &comparison.questions, &comparison.others})
        for (const auto& table : *tables) rows += table.rows.size();
    return rows * comparison.sides.size();
}

void multiply(Observation& seen, double factor) {
    for (auto* value : {&seen.value, &seen.low, &seen.high, &seen.ceiling, &seen.datasheet})
        if (*value) **value *= factor;
    for (auto& replica : seen.replicas) replica.value *= factor;
}

/// 1 where it is not known.
double cores_used(const Collection& collection, const Observation& observation) {
    const auto& machine = collection.machines[collection.runs[observation.run].machine];
    const auto cores = machine.usable_cores ? machine.usable_cores : machine.cores;
    for (const auto* name : {"threads", "ranks"})
        if (const auto* used = record::find(collection.settings[observation.settings], name))
            if (const auto* count = std::get_if<std::int64_t>(used); count != nullptr && cores)
                return static_cast<double>(
                    std::clamp<std::int64_t>(*count, 1, std::max(1, *cores)));
    return 1;
}

bool is_rate(const Series& series) {
    return series.higher_is_better && series.unit.ends_with("/s");
}

void per_core(Collection& collection) {
    for (auto& seen : collection.observations) {
        const auto& series = collection.series[seen.series];
        if (series.place == "host" && is_rate(series))
            multiply(seen, 1 / cores_used(collection, seen));
    }
}

std::string why_unpriced(const MachinePrice& price, Tariff tariff) {
    return price.offer ? in_words(price.price.state)
                       : say<text::compare::no_offer>(in_words(tariff));
}

std::vector<NotCompared> per_currency(Collection& collection, const MachinePrices& prices) {
    std::map<std::string, std::set<std::string>> unpriced; // reason, machines
    std::set<std::string> others;
    std::erase_if(collection.observations, [&](Observation& seen) {
        const auto& series = collection.series[seen.series];
        const auto at = collection.runs[seen.run].machine;
        const auto& price = prices.machines[at];
        const bool is_time = series.unit == "s" && !series.higher_is_better;
        if (!price.price.hour) {
            const auto& machine = collection.machines[at];
            unpriced[why_unpriced(price, prices.tariff)].insert(
                plain(join({machine.provider, machine.instance, machine.id})));
            return true;
        }
        if (!is_time && !is_rate(series)) {
            if (seen.is_primary) others.insert(plain(name_of(series)));
            return true;
        }
        constexpr double hour = 3600;
        const double second = *price.price.hour / hour * nodes_of(seen, collection);
        multiply(seen, is_time ? second : 1 / second);
        return false;
    });
    for (auto& series : collection.series) // those that are left
        series.unit = series.unit == "s"
                          ? prices.currency
                          : series.unit.substr(0, series.unit.rfind("/s")) + "/" + prices.currency;
    std::vector<NotCompared> left_out;
    for (const auto& [why, machines] : unpriced)
        for (const auto& machine : machines)
            left_out.push_back({.what = machine, .reason = why, .where = {}});
    for (const auto& name : others)
        left_out.push_back(
            {.what = name, .reason = say<text::compare::no_rate>(prices.currency), .where = {}});
    return left_out;
}

} // namespace

Scaled scaled(Collection collection, Scale scale, const MachinePrices& prices) {
    Scaled out{.collection = std::move(collection), .left_out = {}};
    if (scale == Scale::core) per_core(out.collection);
    if (scale == Scale::currency) out.left_out = per_currency(out.collection, prices);
    return out;
}

Result<Comparison> compare_scaled(const Collection& collection, const CompareOptions& options) {
    if (options.scale == Scale::machine) return compare(collection, options);
    auto part = scaled(collection, options.scale, options.prices);
    auto found = compare(part.collection, options);
    if (found)
        std::ranges::move(part.left_out, std::back_inserter(found->not_compared));
    else if (!part.left_out.empty())
        found = fail(fmt::format("{}; left out: {}: {}", found.error().message,
                                 part.left_out.front().what, part.left_out.front().reason));
    return found;
}

document::Document with_alternatives(const Collection& collection, const CompareOptions& options,
                                     const Comparison& comparison) {
    auto document = make_document(comparison);
    const auto& sides = comparison.sides;
    std::vector<Scale> scales{Scale::machine};
    if (cores_differ(comparison)) scales.push_back(Scale::core);
    if (!comparison.prices.machines.empty()) scales.push_back(Scale::currency);
    const std::size_t count = sides.size() * scales.size() - 1;
    if (sides.size() > most_sides || cells_of(comparison) * count > most_cells ||
        collection.observations.size() * count > most_observations) {
        document.foot.push_back({.text = say<text::compare::other_baseline>(),
                                 .tone = document::Tone::quiet,
                                 .mark = "-"});
        return document;
    }
    auto how = options;
    for (const auto scale : scales)
        for (const auto& side : sides) {
            if (scale == comparison.scale && &side == &sides.front()) continue; // the document
            how.scale = scale;
            how.baseline = side.label;
            if (const auto other = compare_scaled(collection, how))
                document.alternatives.push_back(make_document(*other));
        }
    return document;
}

} // namespace assay::report
