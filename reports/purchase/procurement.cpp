// SPDX-License-Identifier: Apache-2.0
#include "purchase/procurement.hpp"

#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/offers.hpp"
#include "document/texts/procure.hpp"
#include "document/texts/words.hpp"
#include "json/codec.hpp"
#include "purchase/cost.hpp"
#include "purchase/offer.hpp"
#include "purchase/offer_document.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace assay::purchase {

namespace {

/// It cannot be the price of that node; one that differs from others only should be looked at.
bool speaks_against_first(const document::LintRow& row, const Ranking& ranking) {
    return !ranking.offers.empty() && row.code != to_string(OfferCode::price_differs) &&
           row.code != to_string(OfferCode::spot_as_on_demand) &&
           row.about == plain(ranking.offers.front().cost.offer.id);
}

std::vector<document::LintRow> price_doubts(const Offers& offers, const PriceTerms& terms,
                                            const Ranking& ranking) {
    static const std::set<std::string_view> codes{
        to_string(OfferCode::implausible), to_string(OfferCode::placeholder),
        to_string(OfferCode::gpu_price), to_string(OfferCode::price_differs),
        to_string(OfferCode::spot_as_on_demand)};
    auto rows = lint({.offers = offers, .faults = {}}, terms, nullptr, terms.hardware);
    std::erase_if(rows, [&](const document::LintRow& row) {
        return row.severity == document::Severity::note || !codes.contains(row.code) ||
               std::ranges::none_of(ranking.offers, [&](const RankedOffer& one) {
                   return plain(one.cost.offer.id) == row.about;
               });
    });
    std::ranges::stable_partition(
        rows, [&](const document::LintRow& row) { return speaks_against_first(row, ranking); });
    return rows;
}

} // namespace

Result<Procurement> make_procurement(ProcurementInputs inputs) {
    ASSAY_TRY(const auto profile, find_profile(inputs.profiles, inputs.profile));
    const auto& runs = *inputs.options.costs.runs;
    ASSAY_TRY(auto costs, costs_of(inputs.offers, inputs.options.costs));
    std::vector<Price> prices;
    for (const auto& cost : costs) prices.push_back(cost.price);
    ASSAY_TRY(one_currency(prices));
    Procurement out;
    const Measured measured{&runs, inputs.options.costs.hardware};
    ASSAY_TRY(out.ranking,
              rank(inputs.offers, costs, profile, inputs.profiles, inputs.options, measured));
    out.doubts = price_doubts(inputs.offers, inputs.options.costs.terms, out.ranking);
    out.ranking.doubted =
        !out.doubts.empty() && speaks_against_first(out.doubts.front(), out.ranking);
    out.promises = promises_of(inputs.offers.offers, measured);
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
/// Never 0% or 100%, because the draws are finite.
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

std::uint8_t rank_of(std::size_t column) {
    return static_cast<std::uint8_t>(std::min<std::size_t>(column, 255));
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

// --- what if -------------------------------------------------------------------------------------

namespace {

/// The logarithm of its type's speed at each measure, relative to the type of the first offer.
std::vector<double> speeds_of(const View& view, const RankedOffer& offer) {
    const auto& types = view.ranking.scores.types;
    auto logs = means_of(types[offer.type]);
    const auto first = means_of(types[view.best().type]);
    for (std::size_t m = 0; m < logs.size(); ++m) logs[m] -= first[m];
    return logs;
}
std::string numbered(const char* stem, std::size_t number) {
    return fmt::format("{}_{}", stem, number);
}
/// "value_0, value_1"
std::string over(std::size_t count, const char* form, const char* between) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += fmt::format("{}{}", i == 0 ? "" : between, fmt::format(fmt::runtime(form), i));
    return text;
}

} // namespace

/// Inputs that a page can recompute the ranking from. The machine's price is that before utilisation and term.
Chart what_if(const View& view) {
    RankingChart data{.currency = view.ranking.currency,
                      .term = view.found.options.costs.term_months,
                      .utilisation = view.utilisation()};
    const auto& scores = view.ranking.scores;
    const auto weights = weights_of(scores);
    for (const auto& measure : scores.measures)
        if (measure.counts)
            data.measures.push_back(
                {view.measure_title(measure.measure), weights[data.measures.size()]});
    std::vector<std::optional<std::size_t>> places(scores.types.size());
    for (const auto& offer : view.ranking.offers) {
        auto& place = places[view.ranking.alike[offer.type]];
        if (!place) {
            place = data.types.size();
            data.types.push_back({speeds_of(view, offer)});
        }
        const auto terms = hour_terms(offer.cost);
        data.choices.push_back({.label = offer_name(offer.cost.offer),
                                .type = *place,
                                .price = terms.price,
                                .other = offer.hour.total() - offer.hour.machine,
                                .by_use = terms.by_use,
                                .commitment = terms.commitment,
                                .best = offer.best});
    }
    Chart chart{.title = say<text::procure::what_if>(),
                .caption = say<text::procure::what_if_caption>()};
    chart.data = std::move(data);
    return chart;
}

std::vector<Table> live_ranking(const View& view) {
    constexpr std::size_t most = 40; // formulas of a workbook have an end
    const auto& offers = view.ranking.offers;
    const auto count = std::min(most, offers.size());
    const auto shares = weights_of(view.ranking.scores);
    const auto number = [](double value, const char* unit, std::string name,
                           std::string formula = "") {
        return Cell{
            .number = value, .unit = unit, .live = live(std::move(name), std::move(formula))};
    };
    Table weights{.columns = {{.title = say<text::procure::measure>()},
                              numeric(say<text::procure::weight>())},
                  .sheet = say<text::procure::what_if_weights>(),
                  .only_workbook = true};
    Table table{.columns = {{.title = say<text::offers::offer>()},
                            numeric(say<text::procure::price_input>()),
                            numeric(say<text::procure::price_factor>()),
                            numeric(say<text::procure::part_other>())},
                .sheet = say<text::procure::what_if>(),
                .only_workbook = true};
    for (const auto& measure : view.ranking.scores.measures) {
        if (!measure.counts) continue;
        const auto m = weights.rows.size();
        auto title = view.measure_title(measure.measure);
        weights.rows.push_back(
            {.cells = {{.text = title}, number(shares[m], unit_share, numbered("weight", m))}});
        table.columns.push_back(numeric(std::move(title)));
    }
    for (auto title : {say<text::procure::speed>(), say<text::procure::hour>(),
                       say<text::procure::per_money>(), say<text::procure::value>()})
        table.columns.push_back(numeric(std::move(title)));
    const auto speed =
        fmt::format("EXP(({}) / ({}))", over(shares.size(), "weight_{0} * LN(speed_{0})", " + "),
                    over(shares.size(), "weight_{0}", " + "));
    const auto all = over(count, "value_{}", ", ");
    const auto* const money = view.ranking.currency.c_str();
    for (std::size_t i = 0; i < count; ++i) {
        const auto& offer = offers[i];
        const auto terms = hour_terms(offer.cost);
        const auto value = numbered("value", i);
        const double rate = std::exp(offer.score - view.best().score);
        auto& cells = table.rows.emplace_back().cells;
        cells = {{.text = offer_name(offer.cost.offer)},
                 number(terms.price, money, "price"),
                 number(terms.factor, unit_ratio, "factor"),
                 number(offer.hour.total() - offer.hour.machine, money, "other")};
        for (std::size_t m = 0; const double log : speeds_of(view, offer))
            cells.push_back(number(std::exp(log), unit_ratio, numbered("speed", m++)));
        cells.push_back(number(rate, unit_ratio, "speed", speed));
        cells.push_back(number(offer.hour.total(), money, "hour", "price * factor + other"));
        cells.push_back(number(rate / offer.hour.total(), unit_ratio, value, "speed / hour"));
        cells.push_back(
            number(view.value_of(offer), unit_ratio, "", fmt::format("{} / MAX({})", value, all)));
    }
    return {std::move(table), std::move(weights)};
}

// --- data ---------------------------------------------------------------------------------------

ASSAY_FIELDS(Compared, measure, weight, counts, found, unit, series, left_out, multiplied)
/// Everything that the ranking follows from: logarithms of rates, by machine and measure.
ASSAY_FIELDS(ScoredMachine, (record.id, "machine"), runs, logs)
ASSAY_FIELDS(ScoredType, provider, instance, nodes, ranked, coverage, partial, fast_share, machines)
ASSAY_FIELDS(HourCost, machine, power, other, failures, (record.total(), "total"))
ASSAY_FIELDS(Factor, code, measure, log)
ASSAY_FIELDS(Promise, offer, (record.code, "what"), promised, measured, name, found,
             (record.kept(), "kept"))
ASSAY_FIELDS(Need, text, code, sense, value, unit, words, of_profile)
ASSAY_FIELDS(Judged, outcome, has, text, basis)

namespace {

json::Value offer_of(const Offer& offer) {
    return {{"offer", offer.id},
            {"provider", offer.provider},
            {"instance", offer.instance},
            {"tariff", to_string(offer.tariff)}};
}

json::Value ranked(const Ranking& ranking) {
    json::Value list = json::Value::array();
    for (const auto& one : ranking.offers) {
        auto offer = offer_of(one.cost.offer);
        offer["type"] = one.type;
        offer["value"] = std::exp(one.value() - ranking.offers.front().value());
        offer["speed"] = std::exp(one.score - ranking.offers.front().score);
        offer["next_machine"] =
            one.next ? json::Value(std::exp(*one.next - ranking.offers.front().score))
                     : json::Value(nullptr);
        offer["probability_best"] = json::encode(one.best);
        offer["hour"] = json::encode(one.hour);
        offer["watts"] = json::encode(one.watts);
        offer["needs"] = json::encode(one.needs);
        list.push_back(std::move(offer));
    }
    return list;
}

json::Value unranked(const Ranking& ranking) {
    json::Value list = json::Value::array();
    for (const auto& one : ranking.unranked) {
        auto offer = offer_of(one.offer);
        offer["why"] = to_string(one.why);
        offer["price"] = to_string(one.price);
        offer["missing"] = one.missing;
        offer["promise"] = one.broken ? json::encode(*one.broken) : json::Value(nullptr);
        offer["needs"] = json::encode(one.needs);
        list.push_back(std::move(offer));
    }
    return list;
}

json::Value difference_of(const Ranking& ranking) {
    if (!ranking.runner_up) return nullptr;
    json::Value flips = json::Value::array();
    for (const auto& one : flips_of(ranking, 0, *ranking.runner_up)) {
        json::Value flip = json::Value::object();
        if (one.price_falls)
            flip["price_falls"] = *one.price_falls;
        else
            flip = {{"measure", one.measure}, {"weight", one.weight}, {"from", one.from}};
        flips.push_back(std::move(flip));
    }
    return {{"runner_up", *ranking.runner_up},
            {"probability", json::encode(ranking.above)},
            {"factors", json::encode(factors_of(ranking, 0, *ranking.runner_up))},
            {"flips", std::move(flips)}};
}

} // namespace
} // namespace assay::purchase

namespace assay::stats {

ASSAY_FIELDS(SpreadPrior, deviation, degrees)

} // namespace assay::stats

namespace assay::purchase {

ASSAY_FIELDS(Ranking, (record.profile.name, "profile"), needs, (record.scores.coverage, "coverage"),
             (record.recommends(), "recommends"), provisional, sure, tie,
             (record.spread.deviation, "spread"), (record.spread.degrees, "degrees"), prior,
             currency, parts, left_out, (record.scores.measures, "measures"),
             (record.scores.types, "types"), (ranked(record), "offers"),
             (unranked(record), "unranked"), (difference_of(record), "difference"))

std::string to_json(const Procurement& found) {
    json::Value problems = json::Value::array();
    for (const auto& one : found.problems)
        problems.push_back({{"where", plain(one.where)}, {"reason", plain(one.reason)}});
    return json::to_text({{"schema", "assay.procurement/1"},
                          {"snapshot", found.snapshot},
                          {"ranking", json::encode(found.ranking)},
                          {"doubts", lint_rows(found.doubts, "offer")},
                          {"problems", std::move(problems)},
                          {"not_offered", found.not_offered},
                          {"promises", json::encode(found.promises)}});
}

} // namespace assay::purchase
