// SPDX-License-Identifier: Apache-2.0

#include "compare/alternatives.hpp"

#include "compare/document.hpp"
#include "compare/words.hpp"
#include "language/language.hpp"
#include "language/texts/compare.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

} // namespace

Collection per_core(Collection collection) {
    for (auto& observation : collection.observations) {
        const auto& series = collection.series[observation.series];
        if (series.place != "host" || !series.higher_is_better || !series.unit.ends_with("/s"))
            continue;
        const double cores = cores_used(collection, observation);
        for (auto* value :
             {&observation.value, &observation.low, &observation.high, &observation.ceiling})
            if (*value) **value /= cores;
        for (auto& replica : observation.replicas) replica.value /= cores;
    }
    return collection;
}

document::Document with_alternatives(const Collection& collection, const CompareOptions& options,
                                     const Comparison& comparison) {
    auto document = make_document(comparison);
    const auto& sides = comparison.sides;
    const std::size_t count = sides.size() * (cores_differ(comparison) ? 2 : 1) - 1;
    if (sides.size() > most_sides || cells_of(comparison) * count > most_cells ||
        collection.observations.size() * count > most_observations) {
        document.foot.push_back({.text = say<text::compare::other_baseline>(),
                                 .tone = document::Tone::quiet,
                                 .mark = "-"});
        return document;
    }
    const auto add = [&](const Collection& of, const ComparedSide& baseline, Scale scale) {
        auto how = options;
        how.baseline = baseline.label;
        if (const auto other = compare(of, how))
            document.alternatives.push_back(make_document(*other, scale));
    };
    for (std::size_t side = 1; side < sides.size(); ++side)
        add(collection, sides[side], Scale::machine);
    if (!cores_differ(comparison)) return document;
    const auto scaled = per_core(collection);
    for (const auto& side : sides) add(scaled, side, Scale::core);
    return document;
}

} // namespace assay::report
