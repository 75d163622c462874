// SPDX-License-Identifier: Apache-2.0

#include "compare/alternatives.hpp"

#include "compare/document.hpp"
#include "compare/words.hpp"
#include "language/language.hpp"
#include "language/texts/compare.hpp"

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

} // namespace

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
            if (const auto other = compare(collection, how))
                document.alternatives.push_back(make_document(*other));
        }
    return document;
}

} // namespace assay::report
