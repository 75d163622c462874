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
#include "offers/cost_document.hpp"
#include "offers/document.hpp"
#include "procure/procurement.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace assay::procure {

using namespace document;
using record::human_percent;

namespace {

std::string why(const UnrankedOffer& one, const Ranking& ranking) {
    auto form = std::string{find_text("unranked", to_string(one.why)).value_or("")};
    const auto type = std::ranges::find_if(ranking.scores.types, [&](const auto& own) {
        return own.instance == one.offer.instance && own.provider == one.offer.provider;
    });
    switch (one.why) {
    case Unranked::no_price:
        return fmt::format(fmt::runtime(form), in_words(one.price));
    case Unranked::no_cost:
        return fmt::format(fmt::runtime(form), offers::name_of_line(one.missing));
    case Unranked::coverage:
        return fmt::format(fmt::runtime(form), human_percent(type->coverage));
    case Unranked::not_alike:
        return fmt::format(fmt::runtime(form), human_percent(type->in_common.value_or(0)));
    case Unranked::broken_promise:
        return fmt::format(fmt::runtime(form), procure::name_of(*one.broken),
                           amount_of(one.broken->promised, *one.broken),
                           amount_of(*one.broken->measured, *one.broken));
    case Unranked::spot_risk:
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
        auto reason = why(one, view.ranking);
        auto known = std::ranges::find(reasons, reason, [](const auto& own) { return own.first; });
        if (known == reasons.end())
            known = reasons.emplace(reasons.end(), std::move(reason), std::vector<std::string>{});
        known->second.push_back(offer_name(one.offer));
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
                 .action = say<text::procure::risk_few_do>()});
        if (const auto goodput = offer.cost.lines.of("goodput");
            quoted.tariff == offers::Tariff::spot && goodput)
            risks.findings.push_back(
                {.severity = Severity::note,
                 .what = say<text::procure::risk_spot>(name, human_percent(goodput->value))});
        if (quoted.lead_time_days && *quoted.lead_time_days > 0)
            risks.findings.push_back({.severity = Severity::note,
                                      .what = say<text::procure::risk_lead>(
                                          name, fmt::format("{:g}", *quoted.lead_time_days))});
    }
    for (const auto& promise : view.found.promises)
        if (promise.measured && !promise.kept())
            risks.findings.push_back(
                {.severity = Severity::serious,
                 .what = say<text::procure::risk_broken>(plain(promise.offer), name_of(promise),
                                                         amount_of(promise.promised, promise),
                                                         amount_of(*promise.measured, promise)),
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
    if (risks.findings.empty())
        blocks.emplace_back(Paragraph{.text = say<text::procure::no_risks>()});
    else
        blocks.emplace_back(std::move(risks));
    return blocks;
}

Table contract(const Procurement& found) {
    Table table{.columns = {{.title = say<text::offers::offer>()},
                            {.title = say<text::procure::promise>()},
                            numeric(say<text::procure::promised>()),
                            numeric(say<text::procure::measured>()),
                            {.title = capitalised(say<text::judge::outcome>())}},
                .sheet = say<text::procure::contract_title>()};
    for (const auto& promise : found.promises) {
        Cell outcome{.text = say<text::procure::unknown>(), .tone = Tone::quiet};
        if (promise.kept())
            outcome = {.text = say<text::procure::kept>(), .tone = Tone::good};
        else if (promise.measured)
            outcome = {.text = say<text::procure::broken>(), .tone = Tone::bad};
        const std::string unit{promise.unit};
        Cell measured;
        if (promise.measured)
            measured = {.text = amount_of(*promise.measured, promise),
                        .number = promise.measured,
                        .unit = unit};
        table.rows.push_back({.cells = {{.text = plain(promise.offer)},
                                        {.text = name_of(promise)},
                                        {.text = amount_of(promise.promised, promise),
                                         .number = promise.promised,
                                         .unit = unit},
                                        std::move(measured),
                                        std::move(outcome)}});
    }
    return table;
}

Table published(const Procurement& found) {
    Table table{.columns = {{.title = say<text::procure::figure>()},
                            numeric(say<text::procure::published>()),
                            numeric(say<text::procure::measured>())},
                .sheet = say<text::procure::published_title>()};
    for (const auto& [figure, measured, series] : found.published) {
        Cell name{.text = plain(figure.title)};
        name.notes.push_back(say<text::procure::published_source>(
            plain(figure.provider + ' ' + figure.instance), plain(series), plain(figure.source),
            plain(figure.date)));
        Cell own{.text = say<text::procure::unknown>(), .tone = Tone::quiet};
        if (measured)
            own = {.text = in_words(*measured, figure.unit),
                   .number = measured->value,
                   .unit = figure.unit};
        table.rows.push_back({.cells = {std::move(name),
                                        {.text = offers::in_words(figure.value, figure.unit),
                                         .tone = Tone::quiet,
                                         .number = figure.value,
                                         .unit = figure.unit},
                                        std::move(own)}});
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

} // namespace assay::procure
