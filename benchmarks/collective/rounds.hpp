// SPDX-License-Identifier: Apache-2.0
//
// Who plays whom, when everybody plays everybody once: the circle method of tournaments. One stays, the
// others move on by one seat each round, and those opposite each other play. No rank is in two pairs of a
// round, so the pairs of a round may play at the same time.

#pragma once

#include <algorithm>
#include <vector>

namespace assay::collective {

struct Pair {
    int first;
    int second; ///< above `first`
    bool operator==(const Pair&) const = default;
};
using Round = std::vector<Pair>;

/// n-1 rounds of n/2 pairs, one more of one pair less for odd n. `together`: as they are; otherwise each
/// pair has a round of its own.
inline std::vector<Round> rounds_of(int ranks, bool together) {
    const int seats = ranks + ranks % 2; // an odd one out sits at a seat of its own
    std::vector<Round> rounds;
    for (int turn = 0; turn < seats - 1; ++turn) {
        Round round;
        for (int i = 0; i < seats / 2; ++i) {
            const auto seated = [&](int seat) {
                return seat == 0 ? 0 : 1 + (seat - 1 + turn) % (seats - 1);
            };
            const int a = seated(i);
            const int b = seated(seats - 1 - i);
            if (std::max(a, b) < ranks) round.push_back({std::min(a, b), std::max(a, b)});
        }
        if (together)
            rounds.push_back(round);
        else
            for (const auto& pair : round) rounds.push_back({pair});
    }
    return rounds;
}

} // namespace assay::collective
