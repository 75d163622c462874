// SPDX-License-Identifier: Apache-2.0
//
// What montecarlo.option asks, wherever it runs: the option, its price and the quantile in closed form, the same paths
// recomputed, and what is checked.

#pragma once

#include "montecarlo/formulas.hpp"
#include "montecarlo/philox.hpp"

#include <assay/define.hpp>

#include <limits>
#include <span>

namespace assay::montecarlo {

/// The textbook's: price 100, strike 105, interest 5%, volatility 20%, one year; and the price that is undercut in one
/// of a hundred years, which is what value at risk asks for.
inline constexpr Terms terms{.start = 100,
                             .drift = 0.05 - 0.2 * 0.2 / 2,
                             .spread = 0.2,
                             .strike = 105,
                             .floor = 64.70902043460083};
inline constexpr double risk = 0.01;

namespace option {

inline constexpr std::uint64_t key = 0x0123'4567'89AB'CDEF;
inline constexpr std::uint64_t spoil_seed = 43;
inline constexpr std::size_t block = 4096; // paths that are summed up together
/// Paths of one counter: two words of 64 bits, or four of 32, make two paths from each two.
template <class T>
inline constexpr std::size_t paths_of_counter = 16 / sizeof(T);
template <class T>
inline constexpr std::size_t counters = block / paths_of_counter<T>; // of a block

/// Sums of a block of paths.
struct Tally {
    double payoff;
    double below;
};

template <class Params>
inline constexpr std::tuple axes{
    precision_axis("precision of the paths", &Params::precision),
    integer("paths", "paths of a call, rounded up to a multiple of 4096", "", &Params::paths,
            {1 << 24}, {4096, std::int64_t{1} << 36}),
};
constexpr std::uint64_t blocks_of(std::int64_t paths) {
    return (static_cast<std::uint64_t>(paths) + block - 1) / block;
}
template <class T>
Work work(std::uint64_t blocks) {
    const auto paths = static_cast<double>(blocks * block);
    return {.flops = flops_of_path<T>(terms) * paths, .items = paths};
}

// Sums of so many numbers of one sign err by at most so many roundings. Ahead of that: a price by a few of its
// exponent and its series, which the largest normal numbers multiply by two.
template <class T>
inline constexpr double roundings = static_cast<double>(block) + 64;
template <class T>
constexpr double bound() {
    return roundings<T> * unit_roundoff<T>;
}
inline constexpr const char* method =
    "the sums of every 4096 paths against the same paths by the standard library in fp64, relative "
    "to the sum of prices, by the worst case of rounding; counts exactly but for prices within "
    "rounding; and mean and quantile against their closed forms, within five standard deviations";

/// The words of a pair of paths of a counter.
template <class T>
ASSAY_HOST_DEVICE auto pair_of(const Words& words, unsigned pair) {
    struct Pair {
        typename ScalarOps<T>::Bits radius;
        typename ScalarOps<T>::Bits angle;
    };
    if constexpr (sizeof(T) == sizeof(double))
        return Pair{words.word[0] | std::uint64_t{words.word[1]} << 32U,
                    words.word[2] | std::uint64_t{words.word[3]} << 32U};
    else
        return Pair{words.word[pair], words.word[2 + pair]};
}

/// How far the sums of a block are from those of its paths, by other formulas, relative to the sum of prices.
template <class T>
struct Deviation {
    const Tally* tallies;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t number) const {
        using Ops = ScalarOps<T>;
        double payoff = 0;
        double prices = 0;
        double surely = 0;
        double perhaps = 0;
        const auto add = [&](double normal) {
            constexpr double near = 64 * unit_roundoff<T>;
            const double price = terms.start * std::exp(terms.drift + terms.spread * normal);
            prices += price;
            payoff += price > terms.strike ? price - terms.strike : 0;
            surely += price < terms.floor * (1 - near) ? 1 : 0;
            perhaps += price < terms.floor * (1 + near) ? 1 : 0;
        };
        for (std::size_t i = 0; i < counters<T>; ++i) {
            const Words words = philox_words(number * counters<T> + i, key);
            for (unsigned k = 0; k < paths_of_counter<T> / 2; ++k) {
                const auto pair = pair_of<T>(words, k);
                const double unit = 2 - static_cast<double>(Ops::from_one_to_two(pair.radius));
                const double angle = (static_cast<double>(Ops::from_one_to_two(pair.angle)) - 1.5) *
                                     std::numbers::pi;
                const double radius = std::sqrt(-2 * std::log(unit));
                add(radius * std::sin(angle));
                add((pair.angle & 1U) == 0 ? radius * std::cos(angle) : -radius * std::cos(angle));
            }
        }
        const Tally& found = tallies[number];
        if (!(found.below >= surely && found.below <= perhaps))
            return std::numeric_limits<double>::infinity();
        return (found.payoff - payoff) / prices;
    }
};

/// A little more than what the check allows: of the payoffs, or of those below the floor, of which one may be near.
template <class T>
void spoil(Tally& tally, bool counts) {
    constexpr double prices = 120 * block; // above the sum of any block
    if (counts)
        tally.below += 2;
    else
        tally.payoff += 2 * bound<T>() * prices;
}

/// The distribution of a normal number.
inline double below_normal(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
/// Mean of what the option pays, and its standard deviation, from the moments of a lognormal price above the strike.
struct Payoff {
    double mean;
    double deviation;
};
inline Payoff payoff(const Terms& t) {
    const double d = (std::log(t.start / t.strike) + t.drift) / t.spread;
    const auto moment = [&](double k) {
        return std::pow(t.start, k) * std::exp(k * t.drift + k * k * t.spread * t.spread / 2) *
               below_normal(d + k * t.spread);
    };
    const double mean = moment(1) - t.strike * moment(0);
    const double square = moment(2) - 2 * t.strike * moment(1) + t.strike * t.strike * moment(0);
    return {.mean = mean, .deviation = std::sqrt(square - mean * mean)};
}
/// Deviations of mean and count of all paths from the expected, in standard deviations; the larger one.
inline double deviations(std::span<const Tally> tallies) {
    const auto paths = static_cast<double>(tallies.size() * block);
    Tally all{};
    for (const Tally& tally : tallies) {
        all.payoff += tally.payoff;
        all.below += tally.below;
    }
    const Payoff exact = payoff(terms);
    const double mean = (all.payoff / paths - exact.mean) / (exact.deviation / std::sqrt(paths));
    const double count = (all.below - risk * paths) / std::sqrt(risk * (1 - risk) * paths);
    return std::fmax(detail::orderable(mean), detail::orderable(count));
}
/// After the check of all blocks.
inline Check with_statistics(Check blocks, std::span<const Tally> tallies) {
    constexpr double most =
        5; // one in a million would be further away, and the paths are the same each time
    if (!blocks.passed) return blocks;
    const double found = deviations(tallies);
    if (found <= most) return blocks;
    return check_value(found, most, method,
                       joined("mean or quantile is ", found, " standard deviations off"));
}

} // namespace option
} // namespace assay::montecarlo
