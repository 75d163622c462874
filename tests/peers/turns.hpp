// SPDX-License-Identifier: Apache-2.0
//
// Two things that take turns: A B B A, so that a drift of the machine favours neither. The ratio
// within each such pair counts, because whatever slows the machine down slows both.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace assay::peers {

/// CPU time that other processes used, as a share of all CPUs' time, from begin() to end().
class ForeignUse {
public:
    /// `own_seconds`: CPU seconds used so far by everything that counts as ours.
    explicit ForeignUse(std::function<double()> own_seconds)
        : own_seconds_{std::move(own_seconds)} {}
    void begin();
    double end() const;

private:
    std::function<double()> own_seconds_;
    double busy_ = 0;
    double own_ = 0;
    double wall_ = 0;
};
/// CPU seconds of this process, all threads.
double own_cpu_seconds();
/// And of the processes that it started and that have ended.
double cpu_seconds_with_ended();
/// CPU seconds of another process; 0 when it is gone.
double cpu_seconds_of(int pid);

/// Ratio of B's time to A's: above 1, A is faster.
struct Ratio {
    double value = 0;
    double low = 0; ///< 95% interval of the paired log ratio
    double high = 0;
    std::size_t pairs = 0;
    std::size_t repeated = 0; ///< pairs measured again because of foreign CPU use
    std::size_t disturbed =
        0;                ///< pairs that were disturbed at every attempt, and count nevertheless
    double a_seconds = 0; ///< mean time of one call
    double b_seconds = 0;
};

struct Plan {
    std::size_t pairs = 15;
    double turn_seconds = 0.25; ///< four turns make a pair: long enough to see 2% in 10 ms ticks
    std::size_t attempts = 3;   ///< at one pair, before a disturbed one is taken
};

/// Seconds per call of each side, and the share of the machine that others had meanwhile.
struct Pair {
    double a = 0;
    double b = 0;
    double foreign = 0;
};
/// Measures a pair again, up to `attempts` times, as long as it was disturbed; the least disturbed one
/// counts. Adds to `repeated` and `disturbed`.
Pair quiet_pair(const std::function<Pair()>& measure, std::size_t attempts, Ratio& counts);
/// Ratio over the planned number of quiet pairs; the extra time of a over b in each goes to `added`.
Ratio ratio_of_pairs(const std::function<Pair()>& measure, const Plan& plan,
                     std::vector<double>* added = nullptr);

/// Seconds per call of one turn of about so many seconds.
using Turn = std::function<double(double seconds)>;

Ratio take_turns(const Turn& a, const Turn& b, const Plan& plan,
                 const std::function<double()>& own_seconds = own_cpu_seconds);

/// A turn made from a function that runs a number of calls and returns their seconds.
Turn turn_of(std::function<double(std::size_t calls)> sample);

/// Mean and 95% interval of differences.
struct Difference {
    double value = 0;
    double low = 0;
    double high = 0;
};
Difference mean_difference(const std::vector<double>& differences);
Ratio mean_ratio(const std::vector<double>& ratios);

} // namespace assay::peers
