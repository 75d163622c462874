// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/cost.hpp"
#include "document/texts/judge.hpp"
#include "document/texts/list.hpp"
#include "document/texts/offers.hpp"
#include "document/texts/procure.hpp"
#include "document/texts/words.hpp"
#include "purchase/cost.hpp"
#include "purchase/offer_document.hpp"
#include "purchase/procurement.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace assay::purchase {

using namespace document;
using record::human_percent;

namespace {

/// "GPUs: at least 8", of all needs that are not met.
std::string missed(const UnrankedOffer& one, const Ranking& ranking) {
    std::vector<std::string> all;
    for (std::size_t n = 0; n < ranking.needs.size(); ++n)
        if (one.needs[n].outcome != Outcome::met)
            all.push_back(in_words(ranking.needs[n], ranking.currency));
    return list_of(all, all.size());
}
/// "aws p5.48xlarge (on demand, 0 measured)": with the figures that miss needs, where these are the reason.
std::string with_figures(const UnrankedOffer& one, const Ranking& ranking) {
    std::vector<std::string> figures{in_words(one.offer.tariff)};
    for (std::size_t n = 0; one.why == Unranked::need && n < ranking.needs.size(); ++n)
        if (one.needs[n].outcome != Outcome::met)
            figures.push_back(in_words(one.needs[n], ranking.needs[n], ranking.currency));
    return say<text::words::in_brackets>(plain(one.offer.provider + ' ' + one.offer.instance),
                                         join(figures));
}

/// Inputs that this cost line of the offer lacks.
std::string missing_inputs(const UnrankedOffer& one, const View& view, const char* line) {
    MissingInputs missing{cost_settings()};
    for (const auto& cost : view.found.costs)
        if (cost.offer.id == one.offer.id) missing.add(cost.lines, {line});
    return missing.text();
}

std::string why(const UnrankedOffer& one, const View& view) {
    const auto& ranking = view.ranking;
    auto form = std::string{find_text("unranked", to_string(one.why)).value_or("")};
    const auto type = std::ranges::find_if(ranking.scores.types, [&](const auto& own) {
        return own.instance == one.offer.instance && own.provider == one.offer.provider;
    });
    switch (one.why) {
    case Unranked::no_price:
        return fmt::format(fmt::runtime(form), in_words(one.price));
    case Unranked::no_cost:
        return fmt::format(fmt::runtime(form), missing_inputs(one, view, "part_gpu"));
    case Unranked::spot_risk:
        return fmt::format(fmt::runtime(form), missing_inputs(one, view, "goodput"));
    case Unranked::coverage:
        return fmt::format(fmt::runtime(form), human_percent(type->coverage));
    case Unranked::not_alike:
        return fmt::format(fmt::runtime(form), human_percent(type->in_common.value_or(0)));
    case Unranked::broken_promise:
        return fmt::format(fmt::runtime(form), in_words(*one.broken));
    case Unranked::need:
        return fmt::format(fmt::runtime(form), missed(one, ranking));
    case Unranked::not_measured:
    case Unranked::incomplete:
        break;
    }
    return form;
}

} // namespace

Findings unranked(const View& view) {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const auto& one : view.ranking.unranked) {
        auto reason = why(one, view);
        auto known = std::ranges::find(reasons, reason, [](const auto& own) { return own.first; });
        if (known == reasons.end())
            known = reasons.emplace(reasons.end(), std::move(reason), std::vector<std::string>{});
        known->second.push_back(with_figures(one, view.ranking));
    }
    Findings findings;
    constexpr std::size_t most = 10;
    for (const auto& [reason, names] : reasons)
        findings.findings.push_back(
            {.severity = Severity::caution,
             .what = say<text::words::labelled>(list_of(names, most), reason)});
    return findings;
}

std::vector<Block> risks(const View& view) {
    Findings risks;
    if (const auto& lost = view.found.problems; !lost.empty())
        risks.findings.push_back({.severity = Severity::caution,
                                  .what = say_count<text::procure::not_used>(
                                      lost.size(), plain(lost.front().where, 200),
                                      translated(plain(lost.front().reason, 200)))});
    if (const auto& types = view.found.not_offered; !types.empty())
        risks.findings.push_back(
            {.severity = Severity::note, .what = say<text::offers::no_offer>(list_of(types, 6))});
    std::set<std::size_t> types;
    for (const auto& offer : view.ranking.offers) {
        const auto name = offer_name(offer.cost.offer);
        const auto& quoted = offer.cost.offer;
        if (const auto count = view.machines(offer);
            count < stats::sure_machines && types.insert(offer.type).second)
            risks.findings.push_back(
                {.severity = Severity::caution,
                 .what = say<text::procure::few_machines>(
                     plain(quoted.instance), say_count<text::procure::machine_count>(count)),
                 .action = say<text::procure::risk_few_do>(plain(quoted.provider),
                                                           plain(quoted.instance))});
        if (const auto goodput = offer.cost.lines.of("goodput");
            quoted.tariff == Tariff::spot && goodput)
            risks.findings.push_back(
                {.severity = Severity::note,
                 .what = say<text::procure::risk_spot>(name, human_percent(goodput->value))});
        if (quoted.lead_time_days && *quoted.lead_time_days > 0)
            risks.findings.push_back({.severity = Severity::note,
                                      .what = say<text::procure::risk_lead>(
                                          name, fmt::format("{:g}", *quoted.lead_time_days))});
    }
    for (const auto& doubt : view.found.doubts)
        risks.findings.push_back(
            {.severity = doubt.severity,
             .what = say<text::words::labelled>(plain(doubt.about), doubt.what),
             .action = doubt.instead});
    for (const auto& promise : view.found.promises)
        if (promise.measured && !promise.kept())
            risks.findings.push_back(
                {.severity = Severity::serious,
                 .what = say<text::words::labelled>(plain(promise.offer), in_words(promise)),
                 .action = say<text::procure::risk_broken_do>()});
    if (!view.ranking.offers.empty())
        if (const auto names = view.missing_measures(); !names.empty())
            risks.findings.push_back(
                {.severity = Severity::caution,
                 .what = say<text::procure::risk_coverage>(
                     human_percent(1 - view.ranking.scores.coverage)),
                 .action = say<text::procure::risk_coverage_do>(list_of(names, 6))});
    std::ranges::stable_sort(risks.findings, std::ranges::greater{}, &Finding::severity);
    std::vector<Block> blocks;
    if (!risks.findings.empty()) blocks.emplace_back(std::move(risks));
    return blocks;
}

std::vector<Block> contract(const Procurement& found) {
    Table table{.columns = {{.title = say<text::offers::offer>()},
                            {.title = say<text::procure::promise>()},
                            numeric(say<text::procure::promised>()),
                            numeric(say<text::procure::measured>()),
                            {.title = capitalised(say<text::judge::outcome>())}},
                .sheet = say<text::procure::contract_title>()};
    std::vector<std::string> names;
    bool all_kept = true;
    for (const auto& promise : found.promises) {
        all_kept &= promise.kept();
        if (const auto name = name_of_need(promise.code); std::ranges::count(names, name) == 0)
            names.push_back(name);
        Cell outcome{.text = say<text::procure::unknown>(), .tone = Tone::quiet};
        if (promise.kept())
            outcome = {.text = say<text::procure::kept>(), .tone = Tone::good};
        else if (promise.measured)
            outcome = {.text = say<text::procure::broken>(), .tone = Tone::bad};
        Cell measured;
        if (promise.measured)
            measured = {.text = amount_of(*promise.measured, promise.code, promise.currency),
                        .number = promise.measured};
        table.rows.push_back(
            {.cells = {{.text = plain(promise.offer)},
                       {.text = name_of_need(promise.code)},
                       {.text = amount_of(promise.promised, promise.code, promise.currency),
                        .number = promise.promised},
                       std::move(measured),
                       std::move(outcome)}});
    }
    if (!all_kept) return {std::move(table)};
    table.only_workbook = true;
    return {Paragraph{.text = say_count<text::procure::all_kept>(found.promises.size(),
                                                                 list_of(names, names.size()))},
            std::move(table)};
}

Table data_sheets(const View& view) {
    Table table{.columns = {{.title = say<text::offers::offer>()},
                            {.title = name_of_need("device")},
                            numeric(name_of_need("device_memory")),
                            numeric(say<text::procure::sheet_peak>()),
                            numeric(say<text::procure::sheet_bandwidth>(), 1)},
                .sheet = say<text::procure::sheets_title>()};
    const auto& costs = view.found.options.costs;
    const Measured measured{costs.runs, costs.hardware};
    const auto figure = [](const std::optional<double>& value, const char* unit) {
        return value ? Cell{.text = record::human(*value, unit), .number = value, .unit = unit}
                     : Cell{};
    };
    for (const auto& one : view.ranking.unranked) {
        const auto* const device = device_of(one.offer, measured);
        if (one.why != Unranked::not_measured || device == nullptr) continue;
        const auto peak = device->peaks.tensor.find("bf16");
        const auto count = promised_of(*attribute_of("devices"), one.offer, measured);
        table.rows.push_back(
            {.cells = {{.text = offer_name(one.offer)},
                       {.text = fmt::format("{:g} × {}", count.value_or(1), device->name)},
                       {.text = device->memory_bytes
                                    ? amount_of(*device->memory_bytes, "device_memory")
                                    : "",
                        .number = device->memory_bytes,
                        .unit = "B"},
                       figure(peak == device->peaks.tensor.end() ? std::nullopt
                                                                 : std::optional{peak->second},
                              "FLOP/s"),
                       figure(device->memory_bandwidth, "B/s")}});
    }
    return table;
}

namespace {

/// The unit of work for a rate, and its size in the rate's unit.
struct Per {
    std::string unit;
    double amount;
    std::string name;
};
std::optional<Per> per_of(const std::string& unit) {
    const std::array all{Per{"FLOP/s", 1e15, "PFLOP"}, Per{"B/s", 1e12, "TB"},
                         Per{"tokens/s", 1e6, say<text::procure::per_token>()},
                         Per{"ns/day", 1.0 / 86400, "ns"},
                         Per{"updates/s", 1e12, say<text::procure::per_update>()}};
    const auto* const found = std::ranges::find(all, unit, &Per::unit);
    return found == all.end() ? std::nullopt : std::optional{*found};
}

} // namespace

/// By the mean rate of each measure over what all types have, for a node that
/// works all of the hour. One offer of each type: its best.
Table unit_costs(const View& view) {
    constexpr double seconds_an_hour = 3600;
    Table table{.columns = {{.title = say<text::procure::unit_of_work>()}},
                .sheet = say<text::procure::units_title>()};
    std::vector<const RankedOffer*> offers;
    for (const auto& offer : view.ranking.offers)
        if (std::ranges::none_of(offers,
                                 [&](const auto* one) { return one->type == offer.type; })) {
            offers.push_back(&offer);
            // The tariff distinguishes offers of one type only.
            const auto& quoted = offer.cost.offer;
            const bool one_tariff =
                std::ranges::count(view.ranking.offers, offer.type, &RankedOffer::type) == 1;
            table.columns.push_back(numeric(
                one_tariff ? plain(quoted.provider + ' ' + quoted.instance) : offer_name(quoted),
                rank_of(table.columns.size() - 1)));
        }
    const auto add = [&](std::string name, auto&& cell) {
        Row row{.cells = {{.text = std::move(name)}}};
        for (const auto* offer : offers) row.cells.push_back(cell(*offer));
        table.rows.push_back(std::move(row));
    };
    if (!offers.empty() && offers.front()->cost.lines.find("job") != nullptr)
        for (const char* key : {"job", "job_hours", "job_energy"})
            add(name_of_line(key),
                [&](const RankedOffer& offer) { return cell_of(offer.cost.lines.find(key)); });
    std::size_t m = 0;
    for (const auto& measure : view.ranking.scores.measures) {
        if (!measure.counts) continue;
        if (const auto per = per_of(measure.unit))
            add(say<text::procure::per_unit>(view.measure_title(measure.measure), per->name),
                [&](const RankedOffer& offer) {
                    const auto means = means_of(view.ranking.scores.types[offer.type]);
                    return view.money_cell(offer.hour.total() * per->amount /
                                           (std::exp(means[m]) * seconds_an_hour));
                });
        ++m;
    }
    return table;
}

Facts assumptions(const View& view) {
    Facts facts;
    std::set<std::string> dates;
    for (const auto& offer : view.found.offers.offers)
        if (!offer.date.empty()) dates.insert(plain(offer.date));
    const auto& costs = view.found.options.costs;
    facts.facts.push_back(fact_of("snapshot", say<text::procure::snapshot>(), view.found.snapshot));
    facts.facts.push_back(fact_of("price_dates", say<text::procure::price_dates>(),
                                  list_of({dates.begin(), dates.end()}, 3)));
    facts.facts.push_back(fact_of("term", say<text::procure::term>(),
                                  say<text::cost::months>(fmt::format("{:g}", costs.term_months))));
    facts.facts.push_back(fact_of("utilisation", say<text::procure::utilisation>(),
                                  human_percent(view.utilisation())));
    facts.facts.push_back(
        fact_of("spread", say<text::procure::prior>(),
                say<text::procure::prior_text>(human_percent(view.ranking.spread.deviation),
                                               fmt::format("{:g}", view.ranking.spread.degrees),
                                               fmt::format("{:g}", view.ranking.prior.degrees),
                                               human_percent(view.ranking.prior.deviation))));
    std::vector<std::string> weights;
    for (const auto& weight : view.ranking.profile.weights)
        weights.push_back(say<text::procure::weight_of>(view.measure_title(weight.measure),
                                                        human_percent(weight.value)));
    facts.facts.push_back(fact_of(
        "weights", say<text::procure::weights>(title_of(view.ranking.profile)), join(weights)));
    return facts;
}

} // namespace assay::purchase
