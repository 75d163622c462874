// SPDX-License-Identifier: Apache-2.0
#include "purchase/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace assay::purchase {
namespace {

bool has(const std::vector<Judged>& needs, Outcome outcome) {
    return std::ranges::find(needs, outcome, &Judged::outcome) != needs.end();
}

/// Machines of the type show their spread.
bool is_enough(const stats::TypeScore& type) { return type.machines >= stats::sure_machines; }

/// Parts of the bill beside the machines, and beside what failures cost.
std::vector<std::string> other_parts() {
    std::vector<std::string> parts{cost_parts.begin(), cost_parts.end()};
    std::erase_if(parts,
                  [](const auto& key) { return key == "part_gpu" || key == "part_goodput"; });
    return parts;
}

double known(const Cost& cost, std::string_view key) {
    const auto found = cost.lines.of(key);
    return found ? found->value : 0;
}

HourCost hour_of(const Cost& cost, const std::vector<std::string>& parts) {
    const double hours = known(cost, "nodes") * known(cost, "hours_used");
    HourCost hour;
    const auto terms = hour_terms(cost);
    if (cost.offer.tariff == Tariff::purchase) hour.power = known(cost, "power_month") / hours;
    hour.machine = terms.price * terms.factor;
    for (const auto& part : parts) hour.other += known(cost, part) / hours;
    hour.failures = known(cost, "part_goodput") / hours;
    return hour;
}

double weighted(const std::vector<double>& logs, const std::vector<double>& weights) {
    return std::inner_product(logs.begin(), logs.end(), weights.begin(), 0.0);
}

std::optional<UnrankedOffer> fault_of(const Cost& cost) {
    UnrankedOffer fault{.offer = cost.offer, .price = cost.price.state, .missing = {}};
    if (cost.price.state != PriceState::known) return fault;
    const auto* const machine = cost.lines.find("part_gpu");
    if (machine == nullptr || !machine->quantity || !(machine->quantity->value > 0)) {
        fault.why = Unranked::no_cost;
        if (machine != nullptr) fault.missing = machine->missing;
        return fault;
    }
    fault.why = Unranked::spot_risk;
    if (cost.offer.tariff == Tariff::spot && !cost.lines.of("goodput")) return fault;
    return {};
}

class Building {
public:
    Building(const std::vector<Cost>& costs, const std::vector<std::optional<Promise>>& broken,
             const std::vector<std::vector<Judged>>& judged, const Measured& measured, Ranking& out)
        : costs_{costs}, broken_{broken}, judged_{judged}, measured_{measured}, out_{out} {}

    void build(const RankingOptions& options) {
        score_types(options.prior);
        for (const auto& cost : costs_)
            if (out_.currency.empty() && cost.price.state == PriceState::known)
                out_.currency = cost.price.currency;
        std::vector<const Cost*> kept;
        std::vector<const std::vector<Judged>*> needs;
        for (std::size_t i = 0; i < costs_.size(); ++i)
            if (takes_part(i)) {
                kept.push_back(&costs_[i]);
                needs.push_back(&judged_[i]);
            }
        choose_parts(kept);
        for (std::size_t i = 0; i < kept.size(); ++i) add(*kept[i], *needs[i]);
        out_.provisional = std::ranges::any_of(
            out_.offers, [&](const auto& offer) { return !is_enough(out_.types[offer.type]); });
        std::ranges::stable_sort(out_.offers, std::ranges::greater{}, &RankedOffer::value);
        find_runner_up();
        if (out_.compares() && !out_.provisional) add_probabilities();
        constexpr double alike = 0.02;
        out_.tie = out_.compares() && !out_.sure &&
                   out_.offers.front().value() - out_.offers[*out_.runner_up].value() < alike;
    }

private:
    void score_types(const stats::SpreadPrior& prior) {
        const auto weights = weights_of(out_.scores);
        std::map<std::pair<std::string, std::vector<double>>, std::size_t> seen;
        for (const auto& type : out_.scores.types) {
            auto& logs = out_.logs.emplace_back();
            for (const auto& machine : type.machines)
                logs.push_back(weighted(machine.logs, weights));
            // The same machines, offered in another number of nodes.
            const auto number = out_.alike.size();
            const auto [found, is_new] =
                seen.try_emplace({type.provider + type.instance, logs}, number);
            out_.alike.push_back(found->second);
            out_.types.push_back(logs.empty() ? stats::TypeScore{0, 0} : stats::type_score(logs));
        }
        std::vector<std::vector<double>> each;
        for (std::size_t t = 0; t < out_.alike.size(); ++t)
            if (out_.alike[t] == t) each.push_back(out_.logs[t]);
        out_.prior = prior;
        out_.spread = stats::pool_spread(each, prior);
    }

    /// The next machine comes at some hour: beside the spread between machines that between runs of one machine.
    stats::PooledSpread with_hours(const ScoredType& type) const {
        const auto weights = weights_of(out_.scores);
        double squares = 0;
        double degrees = 0;
        for (const auto& machine : type.machines) {
            if (machine.by_run.size() < 2) continue;
            std::vector<double> logs;
            for (const auto& run : machine.by_run) logs.push_back(weighted(run, weights));
            const double mean =
                std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
            for (const double log : logs) squares += (log - mean) * (log - mean);
            degrees += static_cast<double>(logs.size() - 1);
        }
        auto spread = out_.spread;
        if (degrees > 0)
            spread.deviation = std::hypot(spread.deviation, std::sqrt(squares / degrees));
        return spread;
    }

    std::size_t type_of(const Offer& offer) const {
        const auto found = std::ranges::find_if(out_.scores.types, [&](const auto& type) {
            return type.instance == offer.instance && type.provider == offer.provider &&
                   type.nodes == offer.count.value_or(1);
        });
        return static_cast<std::size_t>(found - out_.scores.types.begin());
    }

    void add_probabilities() {
        std::vector<stats::Candidate> candidates;
        for (const auto& offer : out_.offers)
            candidates.push_back({out_.alike[offer.type], std::log(offer.hour.total())});
        const auto best = stats::probabilities_best(out_.types, candidates, out_.spread);
        for (std::size_t i = 0; i < best.size(); ++i) out_.offers[i].best = best[i];
        const auto& first = out_.offers.front();
        const auto& second = out_.offers[*out_.runner_up];
        out_.above = stats::probability_above(out_.types[first.type], out_.types[second.type],
                                              std::log(first.hour.total() / second.hour.total()),
                                              out_.spread);
        out_.sure = best.front() >= stats::sure_probability;
    }

    /// Missed needs come first, and missing measurements before other unknown values.
    std::optional<Unranked> fault_at(std::size_t i) const {
        const auto& offer = costs_[i].offer;
        if (has(judged_[i], Outcome::missed)) return Unranked::need;
        if (measured_.machines_of(offer).empty()) return Unranked::not_measured;
        if (has(judged_[i], Outcome::unknown)) return Unranked::need;
        const auto& type = out_.scores.types[type_of(offer)];
        if (type.ranked) return {};
        return !(type.coverage > 0) ? Unranked::not_measured
               : type.in_common     ? Unranked::not_alike
               : type.partial > 0   ? Unranked::incomplete
                                    : Unranked::coverage;
    }

    bool takes_part(std::size_t i) {
        const auto& cost = costs_[i];
        auto fault = broken_[i] ? std::optional{UnrankedOffer{.offer = cost.offer,
                                                              .why = Unranked::broken_promise,
                                                              .missing = {},
                                                              .broken = broken_[i]}}
                                : fault_of(cost);
        if (!fault)
            if (const auto why = fault_at(i))
                fault = UnrankedOffer{.offer = cost.offer, .why = *why, .missing = {}};
        if (!fault) return true;
        fault->price = cost.price.state;
        fault->needs = judged_[i];
        out_.unranked.push_back(std::move(*fault));
        return false;
    }

    void choose_parts(const std::vector<const Cost*>& kept) {
        for (auto& part : other_parts()) {
            const auto has = [&](const Cost* cost) { return cost->lines.of(part).has_value(); };
            (std::ranges::all_of(kept, has) ? out_.parts : out_.left_out)
                .push_back(std::move(part));
        }
    }

    void add(const Cost& cost, const std::vector<Judged>& needs) {
        RankedOffer offer{.cost = cost, .type = type_of(cost.offer)};
        offer.hour = hour_of(cost, out_.parts);
        offer.score = out_.types[offer.type].mean;
        if (is_enough(out_.types[offer.type]))
            offer.next = stats::percentile_of_next(out_.types[offer.type],
                                                   with_hours(out_.scores.types[offer.type]));
        if (const auto watts = cost.lines.of("node_power")) offer.watts = watts->value;
        offer.needs = needs;
        out_.offers.push_back(std::move(offer));
    }

    void find_runner_up() {
        const auto& offers = out_.offers;
        if (offers.empty()) return;
        const auto first = out_.alike[offers[0].type];
        const auto found = std::ranges::find_if(
            offers, [&](const auto& offer) { return out_.alike[offer.type] != first; });
        if (found != offers.end())
            out_.runner_up = static_cast<std::size_t>(found - offers.begin());
    }

    const std::vector<Cost>& costs_;
    const std::vector<std::optional<Promise>>& broken_;
    const std::vector<std::vector<Judged>>& judged_;
    const Measured& measured_;
    Ranking& out_;
};

} // namespace

HourTerms hour_terms(const Cost& cost) {
    const auto tariff = cost.offer.tariff;
    const double utilisation = known(cost, "hours_used") / known(cost, "hours_a_month");
    const bool bought = tariff == Tariff::purchase;
    HourTerms terms{.by_use = tariff == Tariff::on_demand || tariff == Tariff::spot};
    const auto months = commitment_months(tariff);
    if (months && !bought) terms.commitment = *months;
    terms.price = (known(cost, "part_gpu") - (bought ? known(cost, "power_month") : 0)) /
                  (known(cost, "nodes") * known(cost, "hours_used"));
    if (!terms.by_use) {
        terms.price *= utilisation;
        terms.factor /= utilisation;
    }
    // A commitment is paid to its end.
    if (const double term = known(cost, "term_months"); terms.commitment > 0)
        terms.factor *= std::ceil(term / terms.commitment) * terms.commitment / term;
    return terms;
}

double RankedOffer::value() const { return score - std::log(hour.total()); }

Result<Ranking> rank(const Offers& offers, const std::vector<Cost>& costs, const Profile& profile,
                     const Profiles& profiles, const RankingOptions& options,
                     const Measured& measured) {
    Ranking ranking;
    ranking.profile = profile;
    auto own = offers.needs;
    own.insert(own.end(), options.needs.begin(), options.needs.end());
    ASSAY_TRY(ranking.needs, all_needs(profile.needs, own));
    ASSAY_TRY(const auto judged, judge(ranking.needs, costs, measured));
    const auto broken = broken_promises(offers.offers, measured);
    // Types that are not ranked do not reduce what the others have in common.
    std::vector<Offer> candidates;
    for (std::size_t i = 0; i < offers.offers.size(); ++i)
        if (!broken[i] && !has(judged[i], Outcome::missed) && !has(judged[i], Outcome::unknown))
            candidates.push_back(offers.offers[i]);
    ASSAY_TRY(ranking.scores, score(candidates, profile, profiles, *options.costs.runs,
                                    options.least_coverage, options.costs.hardware));
    Building{costs, broken, judged, measured, ranking}.build(options);
    return ranking;
}

std::vector<double> means_of(const ScoredType& type) {
    std::vector<double> means(type.machines.empty() ? 0 : type.machines.front().logs.size(), 0);
    for (const auto& machine : type.machines)
        for (std::size_t m = 0; m < means.size(); ++m)
            means[m] += machine.logs[m] / static_cast<double>(type.machines.size());
    return means;
}

std::vector<double> weights_of(const Scores& scores) {
    std::vector<double> weights;
    for (const auto& measure : scores.measures)
        if (measure.counts) weights.push_back(measure.weight / scores.coverage);
    return weights;
}

std::vector<Factor> factors_of(const Ranking& ranking, std::size_t first, std::size_t second) {
    const auto& a = ranking.offers[first];
    const auto& b = ranking.offers[second];
    const auto speed_a = means_of(ranking.scores.types[a.type]);
    const auto speed_b = means_of(ranking.scores.types[b.type]);
    const auto weights = weights_of(ranking.scores);
    std::vector<Factor> factors;
    std::size_t m = 0;
    for (const auto& measure : ranking.scores.measures)
        if (measure.counts) {
            factors.push_back({"speed", measure.measure, weights[m] * (speed_a[m] - speed_b[m])});
            ++m;
        }
    double before_a = a.hour.machine;
    double before_b = b.hour.machine;
    factors.push_back({"price", "", std::log(before_b / before_a)});
    const auto step = [&](std::string_view code, double of_a, double of_b) {
        if (of_a == 0 && of_b == 0) return;
        factors.push_back(
            {code, "",
             std::log((before_b + of_b) / before_b) - std::log((before_a + of_a) / before_a)});
        before_a += of_a;
        before_b += of_b;
    };
    step("power", a.hour.power, b.hour.power);
    step("other", a.hour.other, b.hour.other);
    step("failures", a.hour.failures, b.hour.failures);
    return factors;
}

std::vector<Flip> flips_of(const Ranking& ranking, std::size_t first, std::size_t second) {
    const auto& a = ranking.offers[first];
    const auto& b = ranking.offers[second];
    const double gap = a.value() - b.value();
    std::vector<Flip> flips;
    // Only the price of the machine falls; other costs stay.
    const double falls = b.hour.total() * (1 - std::exp(-gap)) / b.hour.machine;
    if (falls < 1) flips.push_back({.price_falls = falls, .measure = {}});
    const auto speed_a = means_of(ranking.scores.types[a.type]);
    const auto speed_b = means_of(ranking.scores.types[b.type]);
    const auto weights = weights_of(ranking.scores);
    std::size_t m = 0;
    for (const auto& measure : ranking.scores.measures) {
        if (!measure.counts) continue;
        const double own = speed_a[m] - speed_b[m];
        const double weight = weights[m];
        ++m;
        if (weight >= 1) continue;
        // gap = weight * own + (1 - weight) * rest + price, in which the weight moves.
        const double price = gap - (a.score - b.score);
        const double rest = (a.score - b.score - weight * own) / (1 - weight);
        const double at = -(rest + price) / (own - rest);
        if (std::isfinite(at) && at >= 0 && at <= 1)
            flips.push_back({.measure = measure.measure, .weight = at, .from = weight});
    }
    return flips;
}

std::optional<std::size_t> machines_for_sure(const Ranking& ranking, std::size_t first,
                                             std::size_t second) {
    constexpr std::size_t most = 100;
    const auto& a = ranking.offers[first];
    const auto& b = ranking.offers[second];
    const double handicap = std::log(a.hour.total() / b.hour.total());
    for (std::size_t n = stats::sure_machines; n <= most; ++n)
        if (stats::probability_above({a.score, n}, {b.score, n}, handicap, ranking.spread) >=
            stats::sure_probability)
            return n;
    return {};
}

} // namespace assay::purchase
