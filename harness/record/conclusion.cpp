// SPDX-License-Identifier: Apache-2.0
#include "record/format.hpp"
#include "record/metrics.hpp"
#include "record/noise.hpp"
#include "record/summary.hpp"
#include "stats/fast_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace assay::record {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The share of the window that was lost, as far as a cause says one.
double severity_of(const Disturbance& by) {
    if (by.code == DisturbanceCode::neighbours) return 1 - number(by.values, "share").value_or(0);
    if (by.code == DisturbanceCode::clock_low)
        return 1 - (number(by.values, "hz").value_or(0) / number(by.values, "best_hz").value_or(1));
    return number(by.values, "share").value_or(1);
}

/// Does it come from outside the node, and can it slow this case? A clock
/// that a hot processor lowered is the node's own fault.
bool disturbs(const Case& c, const Telemetry& telemetry, DisturbanceCode code) {
    const auto& all = telemetry.disturbed_by;
    const bool was_hot =
        std::ranges::find(all, DisturbanceCode::too_hot, &Disturbance::code) != all.end();
    return can_slow(code, influence_of(c)) && !(was_hot && code == DisturbanceCode::clock_low);
}

/// The worst external cause; null for a quiet window. Sentences and codes are parallel.
const Disturbance* worst_cause(const Case& c, const Telemetry& telemetry) {
    const Disturbance* worst = nullptr;
    for (const Disturbance& by : telemetry.disturbed_by)
        if (disturbs(c, telemetry, by.code) &&
            (worst == nullptr || severity_of(by) > severity_of(*worst)))
            worst = &by;
    return worst;
}

/// Turbo clocks of one case on a quiet machine differ by less.
constexpr double lowest_clock = 0.95;

void compare_clocks(Case& c) {
    if (!can_slow(DisturbanceCode::clock_low, influence_of(c))) return;
    double best = 0;
    for (const Replica& replica : c.replicas)
        best = std::max(best, replica.telemetry.core_clock_hz.value_or(0));
    for (Replica& replica : c.replicas) {
        const double clock = replica.telemetry.core_clock_hz.value_or(best);
        const auto& known = replica.telemetry.disturbed_by;
        if (clock >= lowest_clock * best ||
            std::ranges::find(known, DisturbanceCode::clock_low, &Disturbance::code) != known.end())
            continue;
        disturb(replica.telemetry, DisturbanceCode::clock_low, {{"hz", clock}, {"best_hz", best}},
                fmt::format("The core clock was {:.2f} GHz, in other replicas {:.2f} GHz: check "
                            "temperature, power limits and busy neighbours.",
                            clock * 1e-9, best * 1e-9));
    }
}

} // namespace

void mark_disturbed(Case& c) {
    if (!c.spread) return;
    compare_clocks(c);
    for (Replica& replica : c.replicas) {
        const auto* cause = worst_cause(c, replica.telemetry);
        if (cause == nullptr || !is_measured(replica.status)) continue;
        const auto& all = replica.telemetry.disturbed_by;
        const auto index = static_cast<std::size_t>(cause - all.data());
        const auto& sentences = replica.telemetry.disturbances;
        set_conclusion(replica,
                       {.status = Status::disturbed,
                        .code = ReasonCode::disturbed,
                        .reason = index < sentences.size() ? sentences[index]
                                                           : std::string{to_string(cause->code)},
                        .values = {{"cause", std::string{to_string(cause->code)}}}});
    }
}

int undisturbed(const Case& c) {
    return static_cast<int>(std::ranges::count_if(c.replicas, [](const Replica& replica) {
        return is_measured(replica.status) && replica.status != Status::disturbed;
    }));
}

namespace {

int count_measured(const Case& c) {
    return static_cast<int>(std::ranges::count_if(
        c.replicas, [](const Replica& replica) { return is_measured(replica.status); }));
}

/// All undisturbed ones, if these are enough; otherwise all: what disturbs only slows, so a disturbed replica may well
/// be on the fastest level.
std::vector<const Replica*> considered(const Case& c) {
    const bool all = !c.spread || undisturbed(c) < needed(c);
    std::vector<const Replica*> found;
    for (const Replica& replica : c.replicas)
        if (is_measured(replica.status) && (all || replica.status != Status::disturbed))
            found.push_back(&replica);
    return found;
}

bool is_quiet(const Replica* replica) { return replica->status != Status::disturbed; }

} // namespace

int needed(const Case& c) {
    if (!c.spread) return 1;
    const int replicas = std::min(c.spread->replicas, count_measured(c));
    return replicas < 3 ? replicas : (replicas + 1) / 2;
}

Basis basis_of(const Case& c) {
    Basis basis{.considered = considered(c)};
    basis.kept = basis.considered;
    if (!c.spread) return basis;
    const bool is_timed = is_computed(c, c.headline);
    const auto value_of = [&](const Replica* replica) {
        return is_timed ? replica->seconds.value_or(unknown)
                        : headline_of(c, *replica).value_or(unknown);
    };
    const auto quiet = std::ranges::count_if(basis.considered, is_quiet);
    std::vector<bool> undisturbed; // where others were not
    std::vector<stats::Estimate> estimates;
    for (const Replica* replica : basis.considered) {
        if (std::cmp_less(quiet, basis.considered.size())) undisturbed.push_back(is_quiet(replica));
        estimates.push_back({.value = value_of(replica),
                             .low = is_timed ? replica->low.value_or(unknown) : unknown,
                             .high = is_timed ? replica->high.value_or(unknown) : unknown});
    }
    const MetricDefinition* definition = find_metric(c.headline);
    const bool more = !is_timed && definition != nullptr && definition->higher_is_better;
    const auto level = stats::fast_level(
        estimates, {.deviation = c.spread->between_replicas, .degrees = c.spread->degrees}, more,
        undisturbed);
    basis.kept.clear();
    for (const auto i : level.kept) basis.kept.push_back(basis.considered[i]);
    std::ranges::sort(basis.kept, {}, &Replica::index);
    const auto& all = level.combined;
    basis.agrees = all.scope == stats::Scope::between_replicas &&
                   (all.high - all.low) / 2 <= c.spread->limit * all.value;
    basis.quiet = static_cast<int>(std::ranges::count_if(basis.kept, is_quiet));
    // One of five that is faster is luck; of three it may be what the machine can do.
    const bool is_behind = more ? level.slow > all.value : level.slow < all.value;
    basis.is_minority = is_behind ? 4 * basis.quiet < 3 * quiet : 2 * basis.quiet < quiet;
    return basis;
}

std::vector<const Replica*> counted(const Case& c) { return basis_of(c).kept; }

bool fastest_agree(const Case& c) {
    if (!c.spread) return false;
    const auto basis = basis_of(c);
    return basis.agrees && basis.quiet > 0 && !basis.is_minority;
}

Knowledge knowledge_of(const Case& c) {
    if (!is_measured(c.status)) return Knowledge::none;
    // Whatever the replicas scatter by: what disturbed them only slowed.
    if (c.status == Status::disturbed) return Knowledge::at_least;
    if (c.status != Status::ok) return Knowledge::rough;
    if (c.metrics.empty()) return Knowledge::known;
    // More, either way, leaves the order of machines open, whatever was planned.
    constexpr double widest = 0.3;
    const auto& first = c.metrics.front();
    const bool is_wide =
        first.value && first.low && first.high &&
        std::max(*first.high - *first.value, *first.value - *first.low) > widest * *first.value;
    return is_wide ? Knowledge::rough : Knowledge::known;
}

std::optional<MeasuredPart> part_of(const Case& c) {
    const int measured = count_measured(c);
    if (!c.spread || !is_measured(c.status) || measured >= c.spread->replicas) return {};
    return MeasuredPart{.measured = measured, .planned = c.spread->replicas};
}

Busy busy_of(const Run& run) {
    Busy busy;
    std::map<std::string, double> programs;
    std::map<DisturbanceCode, int> causes;
    for (const Case& c : run.cases) {
        if (!is_measured(c.status)) continue;
        ++busy.cases;
        if (c.status == Status::disturbed) ++busy.disturbed;
        if (c.spread && std::cmp_greater(c.replicas.size(), c.spread->replicas))
            ++busy.measured_again;
        for (const Replica& replica : c.replicas) {
            ++busy.windows;
            const auto* cause = worst_cause(c, replica.telemetry);
            if (cause == nullptr) continue;
            ++busy.disturbed_windows;
            ++causes[cause->code];
            for (const Disturbance& by : replica.telemetry.disturbed_by) {
                if (by.code != DisturbanceCode::foreign_cpu) continue;
                busy.share = std::max(busy.share, number(by.values, "share").value_or(0));
                std::istringstream names{text(by.values, "programs")};
                double rank = 1; // the first used most
                for (std::string name; std::getline(names >> std::ws, name, ',');)
                    programs[name] += number(by.values, "share").value_or(0) / rank++;
            }
        }
    }
    const auto most =
        std::ranges::max_element(causes, {}, [](const auto& cause) { return cause.second; });
    if (most != causes.end()) busy.cause = most->first;
    std::vector<std::pair<double, std::string>> ranked;
    for (const auto& [name, share] : programs) ranked.emplace_back(-share, name);
    std::ranges::sort(ranked);
    constexpr std::size_t named = 3;
    for (std::size_t i = 0; i < std::min(ranked.size(), named); ++i)
        busy.programs.push_back(ranked[i].second);
    return busy;
}

namespace {

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
    // One that was stopped says nothing of those that were measured.
    const bool may_stop = c.spread && count_measured(c) > 0;
    for (const Status bad : bad_ends)
        if (const Replica* replica = first_with(c, bad);
            replica != nullptr && !(may_stop && bad == Status::interrupted))
            return verdict_of(*replica, planned);
    const auto timeless = std::ranges::find_if(c.replicas, [&](const Replica& replica) {
        return is_measured(replica.status) && std::isnan(cost_of(c, replica));
    });
    if (timeless == c.replicas.end()) return {};
    return Conclusion{.status = Status::failed,
                      .code = ReasonCode::no_time,
                      .reason = about(*timeless, planned, "reports no positive time per call")};
}

/// The least and the most time between the CPUs of all replicas that were considered.
std::optional<std::pair<double, double>> placements_of(const Case& c) {
    std::optional<std::pair<double, double>> found;
    for (const Replica* replica : considered(c))
        if (const auto seconds = replica->telemetry.core_latency_seconds)
            found = found ? std::pair{std::min(found->first, *seconds),
                                      std::max(found->second, *seconds)}
                          : std::pair{*seconds, *seconds};
    return found;
}

/// "1.96, 0.62, 2.01 TOP/s"
std::string replica_values(const Case& c) {
    const MetricDefinition* definition = find_metric(c.headline);
    std::string text;
    for (const Replica* replica : considered(c)) {
        const auto value = headline_of(c, *replica);
        if (!value || definition == nullptr) continue;
        text += (text.empty() ? "" : ", ") + human(*value, definition->unit);
    }
    return text;
}

/// Conclusion for a measured case with a Spread and its metrics.
std::optional<Conclusion> noise_of(const Case& c) {
    const Spread& spread = *c.spread;
    const auto basis = basis_of(c);
    const int quiet = undisturbed(c);
    if (quiet < needed(c) && (!basis.agrees || basis.quiet == 0)) {
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
    if (headline.levels->slow && (basis.is_minority || !basis.agrees)) {
        const auto fast = human(headline.value.value_or(unknown), headline.unit);
        const auto slow = human(*headline.levels->slow, headline.unit);
        const double share = headline.levels->share.value_or(unknown);
        Conclusion two{.status = Status::unstable,
                       .code = ReasonCode::two_levels,
                       .reason = fmt::format("{} of the replicas at {}, the others at {}",
                                             human_percent(share), fast, slow),
                       .values = {{"fast_share", share}, {"fast", fast}, {"slow", slow}}};
        if (const auto placed = placements_of(c);
            placed && cpus_moved(placed->first, placed->second)) {
            two.values.push_back({"near_seconds", placed->first});
            two.values.push_back({"far_seconds", placed->second});
            two.reason += fmt::format("; the hypervisor moved the CPUs: {} to {} between them",
                                      human(placed->first, "s"), human(placed->second, "s"));
        }
        return two;
    }
    const auto& replicas = basis.kept;
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
        .reason = fmt::format("±{}, target ±{}: replicas {}", human_percent(half),
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
    const int measured = count_measured(c);
    Conclusion partial{
        .status = Status::interrupted,
        .code = ReasonCode::not_measured,
        .reason = fmt::format("{} of {} replicas were measured", measured, planned),
        .values = {{"measured", std::int64_t{measured}}, {"planned", std::int64_t{planned}}}};
    if (measured < planned && !c.spread) return partial;
    if (c.spread) {
        Case as_ok = c;
        as_ok.status = Status::ok;
        summarise(as_ok);
        if (auto noise = noise_of(as_ok)) return *std::move(noise);
        if (measured < planned) {
            partial.status = Status::ok;
            return partial;
        }
        return {.status = Status::ok, .code = ReasonCode::none, .reason = {}};
    }
    if (const Replica* busy = first_with(c, Status::disturbed)) return verdict_of(*busy, planned);
    if (const Replica* noisy = first_with(c, Status::unstable)) return verdict_of(*noisy, planned);
    if (auto found = disagreement(c)) return *std::move(found);
    return {.status = Status::ok, .code = ReasonCode::none, .reason = {}};
}
} // namespace assay::record
