// SPDX-License-Identifier: Apache-2.0
//
// Whom each node of a large fabric plays, where all pairs would take for ever. Everybody plays everybody while that is
// no longer; otherwise partners at a distance of 1, 2, 4, ... in the order of the hosts, so that neighbours of a switch
// meet as well as the two halves, and random ones. A node that looks slow then plays alone: with good ones, which
// tells a slow node from a slow link, and nobody else at the time, which tells either from a switch that blocks.

#pragma once

#include "rounds.hpp"

#include <assay/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace assay::collective {

/// The pairs that have already played.
class PlayedPairs {
public:
    /// False where they have; otherwise they do now.
    bool add(int a, int b) { return pairs_.emplace(std::min(a, b), std::max(a, b)).second; }

private:
    std::set<std::pair<int, int>> pairs_;
};

inline Pair pair_of(int a, int b) { return {.first = std::min(a, b), .second = std::max(a, b)}; }

/// Rounds of partners at a distance of a power of two.
inline int distance_rounds(int ranks) {
    int rounds = 0;
    while ((1 << rounds) < ranks) ++rounds;
    return rounds;
}

inline std::vector<int> shuffled(int ranks, std::uint64_t seed) {
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    Picks picks{seed};
    for (std::size_t left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[static_cast<std::size_t>(picks.next() % left)]);
    return order;
}

/// Pairs of those in `order` who have not met, each in one pair at most.
inline Round pair_up(std::vector<int> order, PlayedPairs& played) {
    Round round;
    while (order.size() > 1) {
        const int one = order.back();
        order.pop_back();
        const auto other = std::ranges::find_if(order.rbegin(), order.rend(), [&](int candidate) {
            return played.add(one, candidate);
        });
        if (other == order.rend()) continue;
        round.push_back(pair_of(one, *other));
        order.erase(std::next(other).base());
    }
    return round;
}

/// Rounds of pairs that share no rank and are played once. The same on all ranks.
inline std::vector<Round> fabric_rounds(int ranks, int random_rounds) {
    const int distances = distance_rounds(ranks);
    if (ranks - 1 + ranks % 2 <= distances + random_rounds) return rounds_of(ranks, true);
    PlayedPairs played;
    std::vector<Round> rounds;
    for (int bit = 0; bit < distances; ++bit) {
        Round round;
        std::vector<int> left;
        for (int a = 0; a < ranks; ++a) {
            const int b = a ^ (1 << bit);
            if (b >= ranks)
                left.push_back(a);
            else if (a < b && played.add(a, b))
                round.push_back(pair_of(a, b));
        }
        std::ranges::copy(pair_up(std::move(left), played), std::back_inserter(round));
        rounds.push_back(std::move(round));
    }
    for (int i = 0; i < random_rounds; ++i)
        rounds.push_back(pair_up(shuffled(ranks, static_cast<std::uint64_t>(i)), played));
    return rounds;
}

/// So many pairs of the last round, to be played again alone.
inline std::vector<Pair> sample_of(const std::vector<Round>& rounds, std::size_t most) {
    if (rounds.empty()) return {};
    const auto& last = rounds.back();
    return {last.begin(), last.begin() + static_cast<std::ptrdiff_t>(std::min(most, last.size()))};
}

/// The time of a pair when all played at once.
struct Seen {
    Pair pair;
    double seconds; ///< of the same number of bytes for all
};

/// Beyond what is usual: a link or a node by these factors is worth another look, which costs a moment.
constexpr double slow_node = 1.15;
constexpr double slow_link = 1.3;
constexpr std::size_t most_suspects = 192;
constexpr std::size_t most_alone_of_rank = 8; ///< a block of memory for each

class Search {
public:
    Search(int ranks, std::span<const Seen> seen)
        : seen_{seen}, logs_(static_cast<std::size_t>(ranks)),
          times_(static_cast<std::size_t>(ranks), 0) {
        std::vector<double> all;
        for (const auto& one : seen_) {
            if (!(one.seconds > 0)) continue;
            const double log = std::log(one.seconds);
            all.push_back(log);
            for (const int rank : {one.pair.first, one.pair.second}) of(rank).push_back(log);
        }
        common_ = middle(std::move(all));
        for (int rank = 0; rank < ranks; ++rank) {
            const double level = of(rank).empty() ? common_ : middle(of(rank));
            levels_.push_back(std::max(0.0, level - common_));
        }
        for (const int rank : shuffled(ranks, 99))
            if (level(rank) < std::log(slow_node) / 2) good_.push_back(rank);
    }

    /// Pairs to play alone, what is slowest first. None where hardly anybody is good: then that is how the fabric is.
    std::vector<Pair> pairs() {
        if (2 * good_.size() <= levels_.size()) return {};
        struct Suspect {
            double excess;
            Pair pair; ///< a node and itself, or a link
        };
        std::vector<Suspect> suspects;
        for (int rank = 0; rank < static_cast<int>(levels_.size()); ++rank)
            if (level(rank) > std::log(slow_node)) suspects.push_back({level(rank), {rank, rank}});
        for (const auto& one : seen_) {
            if (!(one.seconds > 0)) continue;
            const auto& [a, b] = one.pair;
            const double excess = std::log(one.seconds) - common_ - level(a) - level(b);
            if (excess > std::log(slow_link)) suspects.push_back({excess, one.pair});
        }
        std::ranges::stable_sort(suspects, std::ranges::greater{}, &Suspect::excess);
        for (const auto& suspect : suspects) {
            const auto& [a, b] = suspect.pair;
            if (a != b) add(a, b);
            with_good(a);
            with_good(b); // of a node that is a second one
        }
        return std::move(found_);
    }

private:
    std::vector<double>& of(int rank) { return logs_[static_cast<std::size_t>(rank)]; }
    double level(int rank) const { return levels_[static_cast<std::size_t>(rank)]; }
    static double middle(std::vector<double> values) {
        if (values.empty()) return 0;
        const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::ranges::nth_element(values, at);
        return *at;
    }
    bool add(int a, int b) {
        auto& of_a = times_[static_cast<std::size_t>(a)];
        auto& of_b = times_[static_cast<std::size_t>(b)];
        if (a == b || found_.size() >= most_suspects ||
            std::max(of_a, of_b) >= most_alone_of_rank || !added_.add(a, b))
            return false;
        ++of_a;
        ++of_b;
        found_.push_back(pair_of(a, b));
        return true;
    }
    void with_good(int rank) {
        for (std::size_t tried = 0; tried < good_.size(); ++tried)
            if (add(rank, good_[next_++ % good_.size()])) return;
    }

    std::span<const Seen> seen_;
    std::vector<std::vector<double>> logs_;
    std::vector<std::size_t> times_;
    std::vector<double> levels_; ///< of a rank's pairs, logarithm beyond the common one
    double common_ = 0;
    std::vector<int> good_;
    std::size_t next_ = 0;
    PlayedPairs added_;
    std::vector<Pair> found_;
};

} // namespace assay::collective
