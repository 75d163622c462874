// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"
#include "procure/document.hpp"

#include <cmath>
#include <utility>

namespace assay::report {
namespace {

json::Value offer_of(const Offer& offer) {
    return {{"offer", offer.id},
            {"provider", offer.provider},
            {"instance", offer.instance},
            {"tariff", to_string(offer.tariff)}};
}

json::Value measures_of(const Scores& scores) {
    json::Value list = json::Value::array();
    for (const auto& one : scores.measures)
        list.push_back({{"measure", one.measure},
                        {"weight", one.weight},
                        {"counts", one.counts},
                        {"found", one.found},
                        {"unit", one.unit},
                        {"series", one.series},
                        {"left_out", one.left_out},
                        {"multiplied", one.multiplied}});
    return list;
}

/// Everything that the ranking follows from: logarithms of rates, by machine and measure.
json::Value types_of(const Ranking& ranking) {
    json::Value list = json::Value::array();
    for (const auto& type : ranking.scores.types) {
        json::Value machines = json::Value::array();
        for (const auto& machine : type.machines)
            machines.push_back(
                {{"machine", machine.id}, {"runs", machine.runs}, {"logs", machine.logs}});
        list.push_back({{"provider", type.provider},
                        {"instance", type.instance},
                        {"nodes", type.nodes},
                        {"ranked", type.ranked},
                        {"coverage", type.coverage},
                        {"partial", type.partial},
                        {"machines", std::move(machines)}});
    }
    return list;
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
        offer["hour"] = {{"machine", one.hour.machine},
                         {"power", one.hour.power},
                         {"other", one.hour.other},
                         {"failures", one.hour.failures},
                         {"total", one.hour.total()}};
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
    json::Value factors = json::Value::array();
    for (const auto& one : factors_of(ranking, 0, *ranking.runner_up))
        factors.push_back({{"code", one.code}, {"measure", one.measure}, {"log", one.log}});
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
            {"factors", std::move(factors)},
            {"flips", std::move(flips)}};
}

json::Value of_profile(const Ranking& ranking) {
    return {{"profile", ranking.profile.name},
            {"coverage", ranking.scores.coverage},
            {"recommends", ranking.recommends()},
            {"provisional", ranking.provisional},
            {"sure", ranking.sure},
            {"spread", ranking.spread.deviation},
            {"degrees", ranking.spread.degrees},
            {"prior", {{"deviation", ranking.prior.deviation}, {"degrees", ranking.prior.degrees}}},
            {"currency", ranking.currency},
            {"parts", ranking.parts},
            {"left_out", ranking.left_out},
            {"measures", measures_of(ranking.scores)},
            {"types", types_of(ranking)},
            {"offers", ranked(ranking)},
            {"unranked", unranked(ranking)},
            {"difference", difference_of(ranking)}};
}

} // namespace

std::string to_json(const Procurement& found) {
    json::Value others = json::Value::array();
    for (const auto& other : found.others) others.push_back(of_profile(other));
    json::Value promises = json::Value::array();
    for (const auto& one : found.promises)
        promises.push_back({{"offer", one.offer},
                            {"what", one.code},
                            {"unit", one.unit},
                            {"promised", one.promised},
                            {"measured", json::encode(one.measured)},
                            {"kept", one.kept()}});
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
                          {"ranking", of_profile(found.ranking)},
                          {"others", std::move(others)},
                          {"problems", std::move(problems)},
                          {"not_offered", found.not_offered},
                          {"promises", std::move(promises)},
                          {"published", std::move(published)}});
}

} // namespace assay::report
