// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"
#include "json/codec.hpp"
#include "procure/procurement.hpp"

#include <cmath>
#include <utility>

namespace assay::procure {

ASSAY_FIELDS(Compared, measure, weight, counts, found, unit, series, left_out, multiplied)
/// Everything that the ranking follows from: logarithms of rates, by machine and measure.
ASSAY_FIELDS(ScoredMachine, (record.id, "machine"), runs, logs)
ASSAY_FIELDS(ScoredType, provider, instance, nodes, ranked, coverage, partial, machines)
ASSAY_FIELDS(HourCost, machine, power, other, failures, (record.total(), "total"))
ASSAY_FIELDS(Factor, code, measure, log)
ASSAY_FIELDS(Promise, offer, (record.code, "what"), unit, promised, measured,
             (record.kept(), "kept"))

namespace {

json::Value offer_of(const offers::Offer& offer) {
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
        json::Value on = json::Value::array();
        for (const auto front : fronts)
            if (one.on_front[static_cast<std::size_t>(front)]) on.push_back(to_string(front));
        offer["fronts"] = std::move(on);
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
        offer["promise"] = one.broken
                               ? json::Value{{"what", one.broken->code},
                                             {"unit", one.broken->unit},
                                             {"promised", one.broken->promised},
                                             {"measured", json::encode(one.broken->measured)}}
                               : json::Value(nullptr);
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
} // namespace assay::procure

namespace assay::stats {

ASSAY_FIELDS(SpreadPrior, deviation, degrees)

} // namespace assay::stats

namespace assay::procure {

ASSAY_FIELDS(Ranking, (record.profile.name, "profile"), (record.scores.coverage, "coverage"),
             (record.recommends(), "recommends"), provisional, sure,
             (record.spread.deviation, "spread"), (record.spread.degrees, "degrees"), prior,
             currency, parts, left_out, (record.scores.measures, "measures"),
             (record.scores.types, "types"), (ranked(record), "offers"),
             (unranked(record), "unranked"), (difference_of(record), "difference"))

std::string to_json(const Procurement& found) {
    json::Value problems = json::Value::array();
    for (const auto& one : found.problems)
        problems.push_back({{"where", plain(one.where)}, {"reason", plain(one.reason)}});
    json::Value published = json::Value::array();
    for (const auto& one : found.published) {
        auto figure = json::encode(one.figure);
        figure["measured"] =
            one.measured ? json::encode(one.measured->value) : json::Value(nullptr);
        published.push_back(std::move(figure));
    }
    return json::to_text({{"schema", "assay.procurement/1"},
                          {"snapshot", found.snapshot},
                          {"ranking", json::encode(found.ranking)},
                          {"others", json::encode(found.others)},
                          {"problems", std::move(problems)},
                          {"not_offered", found.not_offered},
                          {"promises", json::encode(found.promises)},
                          {"published", std::move(published)}});
}

} // namespace assay::procure
