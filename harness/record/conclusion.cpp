// SPDX-License-Identifier: Apache-2.0
#include "record/format.hpp"
#include "record/metrics.hpp"
#include "record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::record {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Bad ends, worst first. A crash says most about the machine, a skip least.
constexpr std::array bad_ends{Status::crashed,     Status::timed_out,   Status::failed,
                              Status::not_started, Status::interrupted, Status::skipped};

std::string about(const Replica& replica, int planned, std::string_view text) {
    return fmt::format("replica {} of {}: {}", replica.index + 1, planned,
                       text.empty() ? to_string(replica.status) : text);
}

const Replica* first_with(const Case& c, Status status) {
    const auto found = std::ranges::find(c.replicas, status, &Replica::status);
    return found == c.replicas.end() ? nullptr : &*found;
}

Conclusion verdict_of(const Replica& replica, int planned) {
    auto verdict = conclusion(replica);
    verdict.reason = about(replica, planned, replica.reason);
    if (!verdict.values.empty()) {
        verdict.values.push_back({"replica", std::int64_t{replica.index} + 1});
        verdict.values.push_back({"replicas", std::int64_t{planned}});
    }
    return verdict;
}

/// Slowest over fastest. Processes on a quiet machine differ by up to about 10% in the noisiest
/// benchmarks we know (small all-reduces); a factor of 1.25 means they did not measure the same thing.
constexpr double most_between_replicas = 1.25;

std::optional<Conclusion> disagreement(const Case& c) {
    if (c.replicas.size() < 2) return {};
    const auto cost = [&](const Replica& replica) { return cost_of(c, replica); };
    const auto [fast, slow] = std::ranges::minmax(c.replicas, {}, cost);
    const double factor = cost(slow) / cost(fast);
    if (factor <= most_between_replicas) return {};
    return Conclusion{.status = Status::unstable,
                      .code = ReasonCode::replicas_disagree,
                      .reason = fmt::format("replica {} took {:.3g} times as long as replica {}",
                                            slow.index + 1, factor, fast.index + 1),
                      .values = {{"slow_replica", std::int64_t{slow.index} + 1},
                                 {"factor", factor},
                                 {"fast_replica", std::int64_t{fast.index} + 1}}};
}

/// The first replica, or the case itself, that decides; nothing when all is well so far.
std::optional<Conclusion> bad_end(const Case& c, int planned) {
    if (const Replica* wrong = first_with(c, Status::incorrect)) return verdict_of(*wrong, planned);
    if (c.verification && !c.verification->passed) {
        const std::string& detail = c.verification->detail;
        return Conclusion{.status = Status::incorrect,
                          .code = ReasonCode::wrong_result,
                          .reason = detail.empty() ? "the verification failed" : detail};
    }
    for (const Status bad : bad_ends)
        if (const Replica* replica = first_with(c, bad)) return verdict_of(*replica, planned);
    const auto timeless = std::ranges::find_if(
        c.replicas, [&](const Replica& replica) { return std::isnan(cost_of(c, replica)); });
    if (timeless == c.replicas.end()) return {};
    return Conclusion{.status = Status::failed,
                      .code = ReasonCode::no_time,
                      .reason = about(*timeless, planned, "reports no positive time per call")};
}

/// "1.96, 0.62, 2.01 TOP/s"
std::string replica_values(const Case& c) {
    const MetricDefinition* definition = find_metric(c.headline);
    std::string text;
    for (const Replica* replica : counted(c)) {
        const auto value = headline_of(c, *replica);
        if (!value || definition == nullptr) continue;
        text += (text.empty() ? "" : ", ") + human(*value, definition->unit);
    }
    return text;
}

/// Of a case with a Spread, that was measured and has its metrics.
std::optional<Conclusion> noise_of(const Case& c) {
    const Spread& spread = *c.spread;
    const int quiet = undisturbed(c);
    if (quiet < needed(spread)) {
        const auto worst = std::ranges::find(c.replicas, Status::disturbed, &Replica::status);
        return Conclusion{.status = Status::disturbed,
                          .code = ReasonCode::disturbed,
                          .reason = fmt::format("{} of {} replicas were undisturbed: {}", quiet,
                                                spread.replicas, worst->reason),
                          .values = {{"undisturbed", std::int64_t{quiet}},
                                     {"wanted", std::int64_t{spread.replicas}},
                                     {"cause", text(worst->reason_values, "cause")}}};
    }
    if (c.metrics.empty() || !c.metrics.front().levels) return {};
    const Metric& headline = c.metrics.front();
    if (headline.levels->slow) {
        const auto fast = human(headline.value.value_or(unknown), headline.unit);
        const auto slow = human(*headline.levels->slow, headline.unit);
        const double share = headline.levels->share.value_or(unknown);
        return Conclusion{.status = Status::unstable,
                          .code = ReasonCode::two_levels,
                          .reason = fmt::format("{} of the replicas at {}, the others at {}",
                                                human_percent(share), fast, slow),
                          .values = {{"fast_share", share}, {"fast", fast}, {"slow", slow}}};
    }
    const auto replicas = counted(c);
    const auto drifts = [](const Replica* replica) {
        return replica->reason_code == ReasonCode::drift;
    };
    const auto drifting = std::ranges::count_if(replicas, drifts);
    if (2 * static_cast<std::size_t>(drifting) > replicas.size())
        return verdict_of(**std::ranges::find_if(replicas, drifts), spread.replicas);
    if (!headline.low || !headline.high || !headline.value) return {};
    const double half = (*headline.high - *headline.low) / 2 / *headline.value;
    if (half <= spread.limit) return {};
    const auto values = replica_values(c);
    return Conclusion{
        .status = Status::unstable,
        .code = ReasonCode::wide_interval,
        .reason = fmt::format("known to {}, the target is {}: replicas {}", human_percent(half),
                              human_percent(spread.limit), values),
        .values = {{"half_width_share", half}, {"target_share", spread.limit}, {"values", values}}};
}

} // namespace

Conclusion conclusion_of(const Case& c, int planned) {
    if (c.replicas.empty()) {
        if (is_measured(c.status))
            return {.status = Status::interrupted,
                    .code = ReasonCode::not_measured,
                    .reason = "no replica was measured"};
        return conclusion(c);
    }
    if (auto bad = bad_end(c, planned)) return *std::move(bad);
    if (std::cmp_less(c.replicas.size(), planned))
        return {.status = Status::interrupted,
                .code = ReasonCode::not_measured,
                .reason =
                    fmt::format("{} of {} replicas were measured", c.replicas.size(), planned),
                .values = {{"measured", static_cast<std::int64_t>(c.replicas.size())},
                           {"planned", std::int64_t{planned}}}};
    if (c.spread) {
        Case measured = c;
        measured.status = Status::ok;
        summarise(measured);
        if (auto noise = noise_of(measured)) return *std::move(noise);
        return {.status = Status::ok, .code = ReasonCode::none, .reason = {}};
    }
    if (const Replica* busy = first_with(c, Status::disturbed)) return verdict_of(*busy, planned);
    if (const Replica* noisy = first_with(c, Status::unstable)) return verdict_of(*noisy, planned);
    if (auto found = disagreement(c)) return *std::move(found);
    return {.status = Status::ok, .code = ReasonCode::none, .reason = {}};
}

} // namespace assay::record
