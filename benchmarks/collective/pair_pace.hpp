// SPDX-License-Identifier: Apache-2.0
//
// How much a pair of ranks exchanges, so that a matrix is there in a minute though one of its links is a
// hundred times as slow as the others. Made of what a short trial of each pair took; the same on all ranks.

#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace assay::collective {

/// What a pair exchanges in one call.
struct Pace {
    std::size_t numbers = 0; ///< of a large message
    int round_trips = 0;     ///< of a small one
    bool operator==(const Pace&) const = default;
};

/// What the trial of a pair took, in seconds.
struct Trial {
    double half_trip = 0; ///< of a small message
    double large = 0;     ///< of `trial_numbers`, one way, the slower one
};

constexpr int most_round_trips = 10;
constexpr int large_messages = 2; ///< back to back, each way
/// Of a trial message: 64 KiB in fp32, past what protocols for small messages carry.
constexpr std::size_t trial_numbers = 16U << 10U;

/// Seconds that a pair would take for messages of so many numbers.
inline double seconds_for(const Trial& trial, std::size_t numbers) {
    const double messages = 2.0 * large_messages; // both ways
    return messages * trial.large * static_cast<double>(numbers) /
           static_cast<double>(trial_numbers);
}

/// The time that each pair may take, so that all of them, one after the other, are done in `seconds`:
/// the fast ones take what they need. Twice the median is always allowed: only what is slow is cut.
inline double longest_of_pair(std::vector<double> wanted, double seconds) {
    if (wanted.empty()) return seconds;
    std::ranges::sort(wanted);
    double left = seconds;
    double limit = left;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        limit = left / static_cast<double>(wanted.size() - i);
        if (wanted[i] > limit) break;
        left -= wanted[i];
        limit = wanted.back();
    }
    return std::max(limit, 2 * wanted[wanted.size() / 2]);
}

/// `longest`: seconds for the pair's large messages. Never less than the trial, whose message a burst of
/// a limited link would hide if it were smaller still.
inline Pace pace_of(const Trial& trial, std::size_t numbers, double longest) {
    constexpr double longest_trips =
        0.02; // seconds: ten of 2 ms, which is a link across a continent
    Pace pace{.numbers = numbers, .round_trips = most_round_trips};
    const double wanted = seconds_for(trial, numbers);
    if (wanted > longest) {
        const auto fitting =
            static_cast<std::size_t>(static_cast<double>(numbers) * longest / wanted);
        pace.numbers = std::clamp(fitting, std::min(trial_numbers, numbers), numbers);
    }
    if (2 * trial.half_trip * most_round_trips > longest_trips)
        pace.round_trips = std::max(2, static_cast<int>(longest_trips / (2 * trial.half_trip)));
    return pace;
}

/// Paces of pairs that together may take so many seconds, one after the other.
inline std::vector<Pace> paces_of(const std::vector<Trial>& trials, std::size_t numbers,
                                  double seconds) {
    std::vector<double> wanted;
    wanted.reserve(trials.size());
    for (const auto& trial : trials) wanted.push_back(seconds_for(trial, numbers));
    const double longest = longest_of_pair(std::move(wanted), seconds);
    std::vector<Pace> paces;
    paces.reserve(trials.size());
    for (const auto& trial : trials) paces.push_back(pace_of(trial, numbers, longest));
    return paces;
}

} // namespace assay::collective
