// SPDX-License-Identifier: Apache-2.0
//
// Which offer gives the best value for money? Score over cost of a node-hour, as a logarithm; its uncertainty is that
// of the measured machines, prices are exact. Offers with unknown values, or with machines other than promised, are left
// out with the reason.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "purchase/cost.hpp"
#include "purchase/needs.hpp"
#include "purchase/offer.hpp"
#include "purchase/profile.hpp"
#include "reference/hardware.hpp"
#include "stats/ranking.hpp"
#include "store/collection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::purchase {

/// The compared part of a measure.
struct Compared {
    std::string measure; ///< id
    double weight = 0;   ///< in the profile
    bool counts = false; ///< false: types have nothing in common there
    bool found = false;  ///< a result of any run fits its filters: they are not misspelt
    std::vector<std::string> series; ///< names, of the first type
    /// Names of what fits too but does not count: only some types have it, or another precision does count.
    std::vector<std::string> left_out;
    std::string unit;        ///< of what was measured; empty where it was several
    bool multiplied = false; ///< rates of one device times their number, not measured together
};

struct ScoredMachine {
    std::string id;
    std::size_t runs = 0;
    std::vector<double> logs;                  ///< of the measures that count, in order
    std::vector<std::vector<double>> by_run{}; ///< the same of each run that has them all
};

/// Machines of one provider and instance type.
struct ScoredType {
    std::string provider;
    std::string instance;
    double nodes = 1; ///< offered: what teams do is measured on as many
    std::vector<ScoredMachine> machines;
    double coverage = 0;     ///< weight of the measures that this type has, by itself
    std::size_t partial = 0; ///< machines left out: they lack what the others of the type have
    /// For virtual machines, which are ranked by delivered speed: share of replicas at the level of their value.
    std::optional<double> fast_share{};
    bool ranked = false; ///< else its coverage is too small, or no machine is complete
    /// Not ranked since it was measured by other work than the others: the weight that all had in common.
    std::optional<double> in_common;
};

struct Scores {
    std::vector<Compared> measures; ///< of the profile, in order
    double coverage = 0;            ///< weight of those that count
    std::vector<ScoredType> types;  ///< in the order of the offers
};

/// Scores of the offered types; `hardware` knows other names of providers. Types with less than `least_coverage` of
/// the weight are not ranked, so that they do not take away what others have in common; nor are those that share least
/// with the others while all have less than that in common. Fails if a measure takes the best of different units.
Result<Scores> score(const std::vector<Offer>& offers, const Profile& profile,
                     const Profiles& profiles, const store::Collection& runs,
                     double least_coverage = 0.5, const reference::Hardware* hardware = nullptr);

// --- ranking ---------------------------------------------------------------------------------

/// Cost of a node in an hour of use, by parts that add up.
struct HourCost {
    double machine = 0; ///< rent, or what is written off
    double power = 0;   ///< of machines that are bought; others' is in their rent
    double other = 0;   ///< parts of the bill that are known of all offers
    double failures = 0;
    double total() const { return machine + power + other + failures; }
};

/// Terms of a machine's cost in an hour of use: price (over utilisation, unless billed by use) times the ratio by which
/// a commitment exceeds the term.
struct HourTerms {
    double price = 0;
    bool by_use = false;
    double commitment = 0; ///< months; 0: none
    double factor = 1;     ///< of price
};
/// For offers with known cost.
HourTerms hour_terms(const Cost& cost);

struct RankedOffer {
    Cost cost;
    std::size_t type = 0; ///< index into Ranking::types
    HourCost hour;
    double score = 0; ///< logarithm: the weighted mean over measures
    std::optional<double>
        next; ///< that 19 of 20 further machines of the type exceed; of three machines or more
    std::optional<double>
        best; ///< the probability that it is the best; absent in a provisional ranking, and of one type alone
    std::optional<double> watts;
    std::vector<Judged> needs{}; ///< as Ranking::needs

    double value() const;
};

/// Why an offer has no rank. For programs: these stay as they are; in words: unranked.json of document/texts.
ASSAY_ENUM(Unranked, no_price, no_cost, spot_risk, not_measured, coverage, incomplete,
           broken_promise, not_alike, need)
struct UnrankedOffer {
    Offer offer;
    Unranked why = Unranked::no_price;
    PriceState price = PriceState::known;
    std::string missing;             ///< of no_cost: the key of the line that is not known
    std::optional<Promise> broken{}; ///< of broken_promise
    std::vector<Judged> needs{};     ///< as Ranking::needs
};

/// One reason for the difference of two offers; the logarithms of all sum to that of their values.
struct Factor {
    std::string_view code; ///< "speed", "price", "power", "other", "failures"
    std::string measure;   ///< of speed: its id
    double log = 0;        ///< above 0: for the first
};

/// A change that would make the second offer as good as the first.
struct Flip {
    std::optional<double> price_falls; ///< of the second, as a share of its price
    std::string measure;               ///< or its weight; the others keep their proportions
    double weight = 0;
    double from = 0; ///< its weight now
};

struct Ranking {
    Profile profile;
    std::vector<Need> needs;
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
    bool tie = false;            ///< it is not sure, and the runner-up is within 2% of it

    bool doubted = false; ///< something speaks against the price of the first

    /// Without another type there is nothing to compare the first with.
    bool compares() const { return runner_up.has_value(); }
    bool recommends() const { return compares() && !doubted; }
};

struct RankingOptions {
    CostOptions costs;
    double least_coverage = 0.5;
    stats::SpreadPrior prior;
    std::vector<std::string> needs{}; ///< of the buyer, beside those of offers and profile
};

/// `options.costs.runs` must be there.
Result<Ranking> rank(const Offers& offers, const std::vector<Cost>& costs, const Profile& profile,
                     const Profiles& profiles, const RankingOptions& options,
                     const Measured& measured);

/// Compare offers of one ranking, by index.
std::vector<Factor> factors_of(const Ranking& ranking, std::size_t first, std::size_t second);
std::vector<Flip> flips_of(const Ranking& ranking, std::size_t first, std::size_t second);
/// So many machines of each of the two types would make it sure that the first is better, were their means as they
/// are; nothing where 100 do not.
std::optional<std::size_t> machines_for_sure(const Ranking& ranking, std::size_t first,
                                             std::size_t second);
/// The mean log of a type at each measure that counts.
std::vector<double> means_of(const ScoredType& type);
/// Weights of the measures that count, of which they are shares.
std::vector<double> weights_of(const Scores& scores);

} // namespace assay::purchase
