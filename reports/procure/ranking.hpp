// SPDX-License-Identifier: Apache-2.0
//
// Which offer gives the most work for the money? Score over cost of a node and hour, as a logarithm; its certainty is that
// of the machines that were measured, prices are exact. What is not known takes an offer out, with the reason, and so do
// machines that are not those promised.

#pragma once

#include "base/names.hpp"
#include "offers/cost.hpp"
#include "procure/profile.hpp"
#include "procure/promises.hpp"
#include "procure/scores.hpp"
#include "stats/ranking.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::procure {

/// What a node costs in an hour of use, part by part: each adds to those before it.
struct HourCost {
    double machine = 0; ///< rent, or what is written off
    double power = 0;   ///< of machines that are bought; others' is in their rent
    double other = 0;   ///< parts of the bill that are known of all offers
    double failures = 0;
    double total() const { return machine + power + other + failures; }
};

/// What the cost of a machine in an hour of use is made of: price (over utilisation, unless it is paid by use) times what a
/// commitment is longer than the term.
struct HourTerms {
    double price = 0;
    bool by_use = false;
    double commitment = 0; ///< months; 0: none
    double factor = 1;     ///< of price
};
/// Of an offer whose cost is known.
HourTerms hour_terms(const offers::Cost& cost);

/// Offers that no other beats in cost and in this at once.
ASSAY_ENUM(Front, speed, speed_per_watt, next_machine)
inline constexpr std::array fronts{Front::speed, Front::speed_per_watt, Front::next_machine};

struct RankedOffer {
    offers::Cost cost;
    std::size_t type = 0; ///< index into Ranking::types
    HourCost hour;
    double score = 0; ///< logarithm: the weighted mean over measures
    std::optional<double>
        next; ///< that 19 of 20 further machines of the type exceed; of three machines or more
    std::optional<double>
        best; ///< the probability that it is the best; absent in a provisional ranking, and of one type alone
    std::optional<double> watts;
    std::array<bool, fronts.size()> on_front{};

    double value() const;
};

/// Why an offer has no rank. For programs: these stay as they are; in words: unranked.json of document/texts.
ASSAY_ENUM(Unranked, no_price, no_cost, spot_risk, not_measured, coverage, incomplete,
           broken_promise, not_alike)
struct UnrankedOffer {
    offers::Offer offer;
    Unranked why = Unranked::no_price;
    offers::PriceState price = offers::PriceState::known;
    std::string missing;             ///< of no_cost: the key of the line that is not known
    std::optional<Promise> broken{}; ///< of broken_promise
};

/// One reason for the difference of two offers; the logarithms of all sum to that of their values.
struct Factor {
    std::string_view code; ///< "speed", "price", "power", "other", "failures"
    std::string measure;   ///< of speed: its id
    double log = 0;        ///< above 0: for the first
};

/// What would make the second as good as the first.
struct Flip {
    std::optional<double> price_falls; ///< of the second, as a share of its price
    std::string measure;               ///< or its weight; the others keep their proportions
    double weight = 0;
    double from = 0; ///< its weight now
};

struct Ranking {
    Profile profile;
    Scores scores;
    std::vector<stats::TypeScore> types;   ///< as scores.types; those without rank have no machines
    std::vector<std::vector<double>> logs; ///< of each type the scores of its machines
    std::vector<std::size_t> alike;        ///< of each type the first that is of the same machines
    stats::SpreadPrior prior;
    stats::PooledSpread spread;
    std::vector<RankedOffer> offers; ///< the best first
    std::vector<UnrankedOffer> unranked;
    std::vector<std::string> parts;    ///< of the bill that all have: counted
    std::vector<std::string> left_out; ///< not known of all: not counted
    std::string currency;
    /// The best offer of another type than the first.
    std::optional<std::size_t> runner_up;
    /// A ranked type has fewer than three machines: their spread is assumed, and no probability follows from it.
    bool provisional = false;
    std::optional<double> above; ///< the probability that the first is better than the runner-up
    bool sure = false;           ///< that it is the best is probable enough

    /// Without another type there is nothing to compare the first with.
    bool recommends() const { return runner_up.has_value(); }
};

struct RankingOptions {
    offers::CostOptions costs;
    double least_coverage = 0.5;
    stats::SpreadPrior prior;
    /// Of each offer; empty: none is held against its machines.
    std::vector<std::optional<Promise>> broken{};
};

/// Costs of the offers: the same for every profile. `options.costs.runs` must be there.
Result<Ranking> rank(const offers::Offers& offers, const std::vector<offers::Cost>& costs,
                     const Profile& profile, const Profiles& profiles,
                     const RankingOptions& options);

/// Of offers of one ranking, by index.
std::vector<Factor> factors_of(const Ranking& ranking, std::size_t first, std::size_t second);
std::vector<Flip> flips_of(const Ranking& ranking, std::size_t first, std::size_t second);
/// The mean log of a type at each measure that counts.
std::vector<double> means_of(const ScoredType& type);
/// Weights of the measures that count, of which they are shares.
std::vector<double> weights_of(const Scores& scores);

} // namespace assay::procure
