// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/offers.hpp"
#include "document/texts/procure.hpp"
#include "offers/cost_document.hpp"
#include "offers/document.hpp"
#include "procure/view.hpp"
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

} // namespace assay::report
