// SPDX-License-Identifier: Apache-2.0
#include "procure/view.hpp"

#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/procure.hpp"
#include "document/texts/words.hpp"
#include "offers/cost_document.hpp"
#include "offers/document.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace assay::report {

using namespace document;
using record::human_percent;

std::string times(double ratio) { return fmt::format("{:.2f}x", ratio); }
Cell ratio_cell(double ratio) {
    return {.text = times(ratio), .number = ratio, .unit = unit_ratio};
}
Cell percent_cell(double share) {
    return {.text = human_percent(share), .number = share, .unit = unit_share};
}
/// Of so many draws: neither sure nor impossible.
std::string chance(double probability) {
    constexpr double least = 0.0005;
    if (probability > 1 - least) return say<text::procure::over>("99.9%");
    if (probability < least) return say<text::procure::under>("0.1%");
    return fmt::format("{:.3g}%", 100 * probability);
}
Cell chance_cell(std::optional<double> probability) {
    if (!probability) return {.text = say<text::procure::provisional_cell>(), .tone = Tone::weak};
    return {.text = chance(*probability), .number = probability, .unit = unit_p};
}
Column numeric(std::string title, std::uint8_t rank) {
    return {.title = std::move(title), .numeric = true, .rank = rank};
}

Fact fact_of(const char* key, std::string name, std::string text, Tone tone) {
    return {.name = std::move(name), .text = std::move(text), .key = key, .tone = tone};
}

double View::value_of(const RankedOffer& offer) const {
    return std::exp(offer.value() - best().value());
}
double View::half(const RankedOffer& offer) const {
    return stats::half_width(ranking.types[best().type], ranking.types[offer.type], ranking.spread);
}
bool View::has_interval(const RankedOffer& offer) const {
    return offer.type != best().type && machines(offer) >= stats::sure_machines &&
           machines(best()) >= stats::sure_machines;
}
std::size_t View::machines(const RankedOffer& offer) const {
    return ranking.scores.types[offer.type].machines.size();
}
std::string View::money(double value) const { return money_in_words(value, ranking.currency); }
Cell View::money_cell(double value) const {
    return {.text = money(value), .number = value, .unit = ranking.currency};
}
std::string View::measure_title(const std::string& id) const {
    return title_of(measure_of(found.profiles, {.measure = id}));
}
std::vector<std::string> View::missing_measures() const {
    std::vector<std::string> names;
    for (const auto& measure : ranking.scores.measures)
        if (!measure.counts) names.push_back(measure_title(measure.measure));
    return names;
}
double View::utilisation() const {
    const auto& given = found.options.costs.given;
    const auto used = given.find("utilisation");
    return used == given.end() ? 1 : used->second;
}

} // namespace assay::report
