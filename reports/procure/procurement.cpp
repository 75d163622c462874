// SPDX-License-Identifier: Apache-2.0
#include "procure/procurement.hpp"

#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/offers.hpp"
#include "document/texts/procure.hpp"
#include "document/texts/words.hpp"
#include "offers/cost_document.hpp"
#include "offers/lint.hpp"
#include "offers/price.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace assay::procure {

Result<Procurement> make_procurement(ProcurementInputs inputs) {
    ASSAY_TRY(const auto profile, find_profile(inputs.profiles, inputs.profile));
    const auto& runs = *inputs.options.costs.runs;
    ASSAY_TRY(auto costs, costs_of(inputs.offers, inputs.options.costs));
    std::vector<offers::Price> prices;
    for (const auto& cost : costs) prices.push_back(cost.price);
    ASSAY_TRY(one_currency(prices));
    Procurement out;
    ASSAY_TRY(out.published, beside(inputs.published, runs, inputs.options.costs.hardware));
    inputs.options.broken =
        broken_promises(inputs.offers.offers, runs, inputs.options.costs.hardware);
    ASSAY_TRY(out.ranking, rank(inputs.offers, costs, profile, inputs.profiles, inputs.options));
    for (const auto& other : inputs.profiles.profiles) {
        if (other.name == profile.name) continue;
        ASSAY_TRY(out.others.emplace_back(),
                  rank(inputs.offers, costs, other, inputs.profiles, inputs.options));
    }
    out.promises = promises_of(inputs.offers.offers, runs, inputs.options.costs.hardware);
    out.not_offered = not_offered(inputs.offers.offers, runs, inputs.options.costs.hardware);
    out.costs = std::move(costs);
    out.snapshot = std::move(inputs.snapshot);
    std::set<std::string> machines; // each may be there in several states
    for (const auto& machine : runs.machines) machines.insert(machine.id);
    out.machines = machines.size();
    std::ranges::copy_if(runs.problems, std::back_inserter(out.problems),
                         [](const store::Problem& problem) { return !problem.is_copy; });
    out.runs = runs.runs.size();
    out.offers = std::move(inputs.offers);
    out.profiles = std::move(inputs.profiles);
    out.options = std::move(inputs.options);
    return out;
}

// --- view ----------------------------------------------------------------------------------------

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
std::string View::money(double value) const {
    return offers::money_in_words(value, ranking.currency);
}
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

// --- what if -------------------------------------------------------------------------------------

using namespace document;
using record::human_percent;

/// What a page can compute anew. The machine's price is what it was before utilisation and term entered.
Chart what_if(const View& view) {
    const auto& costs = view.found.options.costs;
    RankingChart data{.currency = view.ranking.currency,
                      .term = costs.term_months,
                      .utilisation = view.utilisation(),
                      .prior_deviation = view.ranking.prior.deviation,
                      .prior_degrees = view.ranking.prior.degrees};
    const auto weights = weights_of(view.ranking.scores);
    std::size_t m = 0;
    for (const auto& measure : view.ranking.scores.measures)
        if (measure.counts) {
            data.measures.push_back({view.measure_title(measure.measure), weights[m]});
            ++m;
        }
    std::vector<std::optional<std::size_t>> places(view.ranking.scores.types.size());
    for (const auto& offer : view.ranking.offers) {
        auto& place = places[view.ranking.alike[offer.type]];
        if (!place) {
            place = data.types.size();
            auto& type = data.types.emplace_back();
            for (const auto& machine : view.ranking.scores.types[offer.type].machines)
                type.machines.push_back(machine.logs);
        }
        const auto terms = hour_terms(offer.cost);
        data.choices.push_back({.label = offer_name(offer.cost.offer),
                                .type = *place,
                                .price = terms.price,
                                .other = offer.hour.total() - offer.hour.machine,
                                .by_use = terms.by_use,
                                .commitment = terms.commitment});
    }
    Chart chart{.title = say<text::procure::what_if>(),
                .caption = say<text::procure::what_if_caption>()};
    chart.data = std::move(data);
    return chart;
}

namespace {

std::string numbered(const char* stem, std::size_t number) {
    return fmt::format("{}_{}", stem, number);
}
/// "max(value_0, value_1)"
std::string over(std::size_t count, const char* form, const char* between) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += fmt::format("{}{}", i == 0 ? "" : between, fmt::format(fmt::runtime(form), i));
    return text;
}

} // namespace

std::vector<Table> live_ranking(const View& view) {
    constexpr std::size_t most = 40; // formulas of a workbook have an end
    const auto& offers = view.ranking.offers;
    const auto count = std::min(most, offers.size());
    const auto shares = weights_of(view.ranking.scores);
    Table weights{.columns = {{.title = say<text::procure::measure>()},
                              numeric(say<text::procure::weight>())},
                  .sheet = say<text::procure::what_if_weights>(),
                  .only_workbook = true,
                  .name = "weights"};
    Table table{.columns = {{.title = say<text::offers::offer>()},
                            numeric(say<text::procure::price_input>()),
                            numeric(say<text::procure::price_factor>()),
                            numeric(say<text::procure::part_other>())},
                .sheet = say<text::procure::what_if>(),
                .only_workbook = true,
                .name = "offers"};
    std::vector<std::string> titles;
    for (const auto& measure : view.ranking.scores.measures)
        if (measure.counts) titles.push_back(view.measure_title(measure.measure));
    for (std::size_t m = 0; m < titles.size(); ++m) {
        weights.rows.push_back({.cells = {{.text = titles[m]},
                                          {.number = shares[m],
                                           .unit = unit_share,
                                           .live = live(numbered("weight", m), "")}}});
        table.columns.push_back(numeric(titles[m]));
    }
    for (auto title : {say<text::procure::speed>(), say<text::procure::hour>(),
                       say<text::procure::per_money>(), say<text::procure::value>()})
        table.columns.push_back(numeric(std::move(title)));
    const auto speed = fmt::format(
        "exp(({}) / ({}))", over(titles.size(), "weights.weight_{0} * log(speed_{0})", " + "),
        over(titles.size(), "weights.weight_{0}", " + "));
    const auto all = over(count, "value_{}", ", ");
    const auto first = means_of(view.ranking.scores.types[view.best().type]);
    for (std::size_t i = 0; i < count; ++i) {
        const auto& offer = offers[i];
        const auto terms = hour_terms(offer.cost);
        const auto number = [](double value, const char* unit, std::string name,
                               std::string formula = "") {
            return Cell{
                .number = value, .unit = unit, .live = live(std::move(name), std::move(formula))};
        };
        const auto* const money = view.ranking.currency.c_str();
        Row row{.cells = {{.text = offer_name(offer.cost.offer)},
                          number(terms.price, money, "price"),
                          number(terms.factor, unit_ratio, "factor"),
                          number(offer.hour.total() - offer.hour.machine, money, "other")}};
        const auto own = means_of(view.ranking.scores.types[offer.type]);
        for (std::size_t m = 0; m < titles.size(); ++m)
            row.cells.push_back(
                number(std::exp(own[m] - first[m]), unit_ratio, numbered("speed", m)));
        const double rate = std::exp(offer.score - view.best().score);
        row.cells.push_back(number(rate, unit_ratio, "speed", speed));
        row.cells.push_back(number(offer.hour.total(), money, "hour", "price * factor + other"));
        row.cells.push_back(
            number(rate / offer.hour.total(), unit_ratio, numbered("value", i), "speed / hour"));
        row.cells.push_back(number(view.value_of(offer), unit_ratio, "",
                                   fmt::format("{} / max({})", numbered("value", i), all)));
        table.rows.push_back(std::move(row));
    }
    return {std::move(table), std::move(weights)};
}

} // namespace assay::procure
