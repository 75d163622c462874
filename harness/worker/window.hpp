// SPDX-License-Identifier: Apache-2.0
//
// The timed window without the timing: which values are kept, when to judge, when to stop, and the final
// judgement. Uses no clock and no subject. The invariant: the mean of the kept values is
// the total time over the total number of calls of the batches that count.

#pragma once

#include "record/model.hpp"
#include "record/protocol.hpp"
#include "stats/interval.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay::worker {

/// Means of groups of 2^j consecutive batches, all of one size. When there are more than the limit,
/// neighbours are merged and j grows.
class KeptValues {
public:
    explicit KeptValues(std::uint64_t limit);

    void add(double value);
    /// Complete groups only.
    std::span<const double> values() const { return values_; }
    /// Batches in each group.
    std::uint64_t group() const { return group_; }
    std::uint64_t batches() const { return values_.size() * group_; } ///< in complete groups
    bool at_group_end() const { return pending_ == 0; }

private:
    std::size_t limit_; // even, so that merging leaves no odd one out
    std::vector<double> values_;
    std::uint64_t group_ = 1;
    double sum_ = 0; // of the incomplete last group
    std::uint64_t pending_ = 0;
};

/// The times of single calls, for their slow tail. For batches of one call; keeps at most a million: 8 MB,
/// minutes of the shortest batches.
class SlowTail {
public:
    void add(double seconds);
    /// 99th percentile; nothing below 100 calls, where the slowest one would decide.
    std::optional<double> p99() const;

private:
    std::vector<double> calls_;
};

/// The window so far: ok, unstable or failed.
struct Judgement {
    stats::Interval interval;
    record::Conclusion conclusion{
        .status =
            record::Status::unstable}; ///< the code of the first reason; values of a single one
};
/// `resolution`: of the clock, for one call, in seconds: no interval is narrower to either side.
/// `needed`: the least batches for ok.
Judgement judge(const KeptValues& kept, const record::Protocol& protocol, double resolution,
                std::uint64_t needed);

/// The least batches for ok: few if one call alone is longer than a batch has to be.
std::uint64_t batches_needed(const record::Protocol& protocol, double seconds_per_call);

/// When to judge next: the looks are spaced by a factor, because every look is a chance to stop by luck.
class Looks {
public:
    Looks(const record::Protocol& protocol, std::uint64_t needed)
        : min_seconds_{protocol.min_seconds}, next_{needed} {}

    /// True when a look is due; the next one is at 1.3 times as many batches.
    bool due(const KeptValues& kept, double measured_seconds);

private:
    double min_seconds_;
    std::uint64_t next_; // batches
};

} // namespace assay::worker
