// SPDX-License-Identifier: Apache-2.0

#include "worker/window.hpp"

#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::worker {
namespace {

using record::ReasonCode;

// Fewer kept values than this would leave batch means too few groups to find independent ones.
constexpr std::uint64_t fewest_kept = 20;

void add_reason(Judgement& judgement, record::ReasonCode code, const std::string& reason,
                record::Values values = {}) {
    auto& conclusion = judgement.conclusion;
    if (conclusion.reason.empty()) {
        conclusion.code = code;
        conclusion.values = std::move(values);
    } else {
        conclusion.values.clear(); // they cover one of the reasons only
        conclusion.reason += "; ";
    }
    conclusion.reason += reason;
}

void widen_to_resolution(stats::Interval& interval, double resolution) {
    if (std::isnan(interval.low)) return;
    interval.low = std::min(interval.low, interval.mean - resolution);
    interval.high = std::max(interval.high, interval.mean + resolution);
}

} // namespace

KeptValues::KeptValues(std::uint64_t limit) : limit_{std::max(limit, fewest_kept) / 2 * 2} {
    values_.reserve(limit_);
}

void KeptValues::add(double value) {
    if (values_.size() == limit_ && pending_ == 0) {
        for (std::size_t i = 0; i < limit_ / 2; ++i)
            values_[i] = (values_[2 * i] + values_[(2 * i) + 1]) / 2;
        values_.resize(limit_ / 2);
        group_ *= 2;
    }
    sum_ += value;
    if (++pending_ < group_) return;
    values_.push_back(sum_ / static_cast<double>(group_));
    sum_ = 0;
    pending_ = 0;
}

void SlowTail::add(double seconds) {
    constexpr std::size_t most = 1'000'000;
    if (calls_.size() < most) calls_.push_back(seconds);
}

std::optional<double> SlowTail::p99() const {
    constexpr std::size_t fewest = 100;
    constexpr double slowest = 0.99;
    if (calls_.size() < fewest) return std::nullopt;
    return stats::quantile(calls_, slowest);
}

std::uint64_t batches_needed(const record::Protocol& protocol, double seconds_per_call) {
    const double longest = protocol.min_seconds / static_cast<double>(protocol.min_batches);
    return seconds_per_call > longest ? protocol.few_batches : protocol.min_batches;
}

Judgement judge(const KeptValues& kept, const record::Protocol& protocol, double resolution,
                std::uint64_t needed) {
    Judgement judgement{.interval = stats::batch_means_interval(kept.values())};
    stats::Interval& interval = judgement.interval;
    if (kept.values().empty() || interval.mean <= 0) {
        judgement.conclusion.status = record::Status::failed;
        add_reason(judgement, ReasonCode::no_time, "the clock did not advance during a batch");
        return judgement;
    }
    widen_to_resolution(interval, resolution);

    if (kept.batches() < needed)
        add_reason(judgement, ReasonCode::too_few_batches,
                   fmt::format("only {} of {} batches fit in the time", kept.batches(), needed),
                   {{"batches", static_cast<std::int64_t>(kept.batches())},
                    {"needed", static_cast<std::int64_t>(needed)}});
    const stats::Drift drift = stats::half_drift(kept.values());
    if (drift.significant && std::abs(drift.relative()) > protocol.target)
        add_reason(judgement, ReasonCode::drift,
                   fmt::format("drift: first half {:.4g} s, second half {:.4g} s", drift.first,
                               drift.second),
                   {{"first_seconds", drift.first}, {"second_seconds", drift.second}});
    const double half_width = interval.relative_half_width();
    if (std::isnan(half_width))
        add_reason(judgement, ReasonCode::no_interval, "one batch gives no confidence interval");
    else if (half_width > protocol.target)
        add_reason(
            judgement, ReasonCode::wide_interval,
            fmt::format("±{:.2g}%, target ±{:.2g}%{}", 100 * half_width, 100 * protocol.target,
                        interval.decorrelated ? "" : " (neighbouring batches stay correlated)"),
            {{"half_width_share", half_width}, {"target_share", protocol.target}});
    if (judgement.conclusion.reason.empty()) judgement.conclusion.status = record::Status::ok;
    return judgement;
}

bool Looks::due(const KeptValues& kept, double measured_seconds) {
    if (!kept.at_group_end() || kept.batches() < next_ || measured_seconds < min_seconds_)
        return false;
    constexpr double spacing = 1.3;
    next_ = static_cast<std::uint64_t>(std::ceil(static_cast<double>(kept.batches()) * spacing));
    return true;
}

} // namespace assay::worker
