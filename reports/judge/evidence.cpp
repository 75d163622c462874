// SPDX-License-Identifier: Apache-2.0
#include "judge/evidence.hpp"

#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace assay::judge {
namespace {

/// Degrees of freedom of components whose file does not say: as those of the table of kinds of benchmarks.
constexpr double usual_degrees = 6;

} // namespace

Cause cause_of_disturbance(const decide::Observation& seen) {
    if (!seen.cause) return Cause::disturbed;
    using Code = record::DisturbanceCode;
    switch (seen.cause->code) {
    case Code::too_hot:
    case Code::device_slowed:
        return Cause::overheated;
    case Code::neighbours:
        return Cause::neighbours;
    case Code::device_shared:
        return Cause::device_shared;
    case Code::foreign_cpu:
        return Cause::other_load;
    default:
        return Cause::disturbed;
    }
}

std::vector<std::uint32_t> groups_of(const std::vector<decide::Series>& series) {
    std::vector<std::uint32_t> groups;
    std::unordered_map<std::string, std::uint32_t> known;
    groups.reserve(series.size());
    for (auto one : series) {
        one.place = one.place.substr(0, one.place.find(':'));
        const auto name = fmt::format("{} {}", name_of(one), one.metric);
        groups.push_back(
            known.try_emplace(name, static_cast<std::uint32_t>(known.size())).first->second);
    }
    return groups;
}

std::vector<record::NamedList> differences_of(const std::vector<const decide::Series*>& series) {
    const auto is_of_all = [&](const record::Named& parameter) {
        return std::ranges::all_of(series, [&](const decide::Series* one) {
            const auto* const value = record::find(one->parameters, parameter.name);
            return value != nullptr && *value == parameter.value;
        });
    };
    std::vector<record::NamedList> out;
    for (const auto* one : series) {
        auto& different = out.emplace_back();
        for (const auto& parameter : one->parameters)
            if (!is_of_all(parameter)) different.push_back(parameter);
    }
    return out;
}

bool is_of_one_device(const decide::Series& series) {
    // One process copies between all of them.
    return series.benchmark != "transfer.peer" && series.place != "host" &&
           record::number(series.conditions, "ranks").value_or(1) <= 1;
}

bool is_executed_on_cpu(const decide::Series& series) {
    const auto* const on = record::find(series.conditions, "executed_on");
    return on != nullptr && record::to_string(*on) != "device";
}

std::vector<Item> items_of(const store::Collection& collection,
                           const std::vector<std::size_t>& first,
                           const std::vector<std::uint32_t>& groups,
                           const std::vector<std::uint32_t>& runs, const CountsFor& counts_for) {
    std::vector<std::pair<std::uint32_t, Seen>> all;
    for (std::uint32_t k = 0; k < runs.size(); ++k)
        for (auto i = first[runs[k]]; i < first[runs[k] + 1]; ++i) {
            const auto& seen = collection.observations[i];
            if (!seen.is_primary) continue;
            if (const auto series = counts_for(runs[k], seen.series))
                all.push_back({*series, {.observation = &seen, .run = k}});
        }
    std::ranges::stable_sort(all, {}, &std::pair<std::uint32_t, Seen>::first);
    std::vector<Item> items;
    for (const auto& [series, seen] : all) {
        if (items.empty() || items.back().series != series)
            items.push_back({.series = series, .group = groups[series]});
        items.back().seen.push_back(seen);
    }
    return items;
}

bool is_under_stress(const decide::Series& series) {
    return record::find(series.parameters, "stress") != nullptr;
}

bool counts(const decide::Observation& seen) {
    return seen.value && !seen.replicas.empty() && record::is_measured(seen.status);
}

Held held_against(const Item& item, bool at_least, const BoundOf& bound) {
    Held held;
    std::vector<double> quiet;
    std::vector<double> all;
    std::optional<std::uint32_t> last;
    for (const auto& [seen, run] : item.seen) {
        if (!counts(*seen)) continue;
        const auto limit = bound(*seen);
        if (!limit) continue;
        for (const auto& replica : seen->replicas) {
            // Zero, as of packets lost, has no logarithm: far on its side of any limit.
            constexpr double nothing = 1e-3;
            const double ratio = std::log(replica.value == 0 ? nothing : replica.value / *limit);
            held.margins.push_back({.log_ratio = at_least ? ratio : -ratio,
                                    .run = run,
                                    .disturbed = replica.disturbed});
            all.push_back(replica.value);
            if (!replica.disturbed) quiet.push_back(replica.value);
        }
        held.bound = limit;
        if (last != run) ++held.runs;
        last = run;
    }
    if (!all.empty()) held.value = stats::average(quiet.empty() ? all : quiet);
    return held;
}

std::vector<decide::Margin> undisturbed(std::span<const decide::Margin> margins) {
    std::vector<decide::Margin> kept;
    std::ranges::copy_if(margins, std::back_inserter(kept),
                         [](const decide::Margin& margin) { return !margin.disturbed; });
    return kept;
}

ItemValue newest_value(const Item& item) {
    std::vector<const decide::Observation*> newest;
    std::uint32_t run = 0;
    for (const auto& one : item.seen) {
        if (!counts(*one.observation)) continue;
        if (!newest.empty() && one.run != run) newest.clear();
        run = one.run;
        newest.push_back(one.observation);
    }
    if (newest.empty()) return {};
    if (newest.size() == 1)
        return {.value = newest.front()->value,
                .low = newest.front()->low,
                .high = newest.front()->high};
    std::vector<double> values;
    for (const auto* seen : newest)
        for (const auto& replica : counted(*seen)) values.push_back(replica.value);
    return {.value = stats::average(values), .low = {}, .high = {}};
}

ItemNoise noise_of(const Limit& limit, const Item& item, bool feels_neighbours) {
    ItemNoise noise;
    const auto squared = [](double deviation) { return deviation * deviation; };
    if (limit.spread && limit.spread->replica) {
        const double degrees = limit.spread->degrees.value_or(usual_degrees);
        noise.fail.replica = {.variance = squared(*limit.spread->replica), .degrees = degrees};
        if (limit.spread->run || limit.spread->day)
            noise.fail.run = {.variance = squared(limit.spread->run.value_or(0)) +
                                          squared(limit.spread->day.value_or(0)),
                              .degrees = degrees};
        noise.pass = noise.fail;
        return noise;
    }
    // The known part of the work, not the estimated one.
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const auto known = [&](double deviation) {
        return stats::VarianceEstimate{.variance = squared(deviation), .degrees = infinite};
    };
    for (const auto& [seen, run] : item.seen) {
        if (!seen->between_replicas || !seen->degrees) continue;
        noise.fail.replica = {.variance = squared(*seen->between_replicas),
                              .degrees = *seen->degrees};
        noise.pass.replica = {
            .variance = squared(seen->alone_between_replicas.value_or(*seen->between_replicas)),
            .degrees = *seen->degrees};
        // On a shared host three runs an hour apart are asked for instead.
        if (seen->between_runs && !feels_neighbours) noise.fail.run = known(*seen->between_runs);
        if (seen->alone_between_runs) noise.pass.run = known(*seen->alone_between_runs);
    }
    return noise;
}

bool feels_neighbours(const record::Machine& machine, const decide::Series& series) {
    const bool crosses_network = record::number(series.conditions, "machines").value_or(1) > 1;
    return machine.virtualization != "none" && (series.place == "host" || crosses_network);
}

Cause cause_under_stress(std::span<const decide::Margin> margins,
                         const decide::AcceptanceNoise& noise, bool is_ratio, bool feels_neighbours,
                         Cause disturbed_by) {
    constexpr double least = 0.03;
    constexpr double deviations = 5;
    const double far =
        is_ratio
            ? 0
            : std::max(least, deviations * std::sqrt(noise.replica.variance + noise.run.variance));
    // Any run counts: otherwise a hot node has a new chance with each.
    for (const auto& margin : margins)
        if (margin.log_ratio < -far && !margin.disturbed && !feels_neighbours)
            return is_ratio ? Cause::slows_when_hot : Cause::below_limit;
    const auto& newest = margins.back();
    if (newest.log_ratio >= far) return Cause::none;
    if (newest.disturbed) return disturbed_by;
    return feels_neighbours ? Cause::neighbours : Cause::undecided;
}

Cause why_nothing(const Item& item) {
    const auto weight = [](Cause cause) {
        return std::tuple{meaning_of(cause).outcome, static_cast<std::uint8_t>(cause)};
    };
    Cause worst = Cause::none;
    for (const auto& [seen, run] : item.seen) {
        auto cause = cause_of(seen->status).value_or(Cause::no_value);
        if (seen->status == record::Status::disturbed) cause = cause_of_disturbance(*seen);
        if (weight(cause) > weight(worst)) worst = cause;
    }
    return worst;
}

// --- bound ---------------------------------------------------------------------------------------

namespace {

std::optional<double> median_of_siblings(const BoundBasis& basis, const Item& item) {
    std::vector<double> others;
    for (const auto& other : basis.items)
        if (other.group == item.group && other.series != item.series)
            if (const auto value = newest_value(other).value) others.push_back(*value);
    return others.empty() ? std::nullopt : std::optional{stats::median(others)};
}

/// The highest: of several instruction sets or kernels that is what the hardware can do.
std::optional<double> sheet_at(const BoundBasis& basis, std::string_view benchmark,
                               const Item& item) {
    const auto& own = basis.collection.series[item.series];
    std::optional<double> most;
    for (const auto& other : basis.items)
        if (bounds(basis.collection.series[other.series], benchmark, own))
            for (const auto& [seen, run] : other.seen)
                if (seen->datasheet) most = std::max(most.value_or(0), *seen->datasheet);
    return most;
}

} // namespace

bool bounds(const decide::Series& series, std::string_view benchmark, const decide::Series& other) {
    if (series.benchmark != benchmark || series.place != other.place) return false;
    for (const char* name : {"together", "part"})
        if (record::text(series.parameters, name) != record::text(other.parameters, name))
            return false;
    return std::ranges::all_of(series.parameters, [&](const record::Named& parameter) {
        const auto* const theirs = record::find(other.parameters, parameter.name);
        return theirs == nullptr || *theirs == parameter.value;
    });
}

std::optional<double> bound_of_limit(const BoundBasis& basis, const Limit& limit, const Item& item,
                                     bool at_least, const decide::Observation& seen) {
    const auto& own = at_least ? limit.at_least : limit.at_most;
    if (!own || limit.share_of.empty()) return own;
    std::optional<double> whole;
    if (limit.share_of == "datasheet") {
        whole = seen.datasheet;
    } else if (limit.share_of == "siblings") {
        whole = median_of_siblings(basis, item);
    } else if (const auto benchmark = sheet_of(limit); !benchmark.empty()) {
        whole = sheet_at(basis, benchmark, item);
        if (whole) *whole *= limit.per_unit.value_or(1);
    } else if (const auto base = std::ranges::find(basis.limits.limits, base_of(limit), &Limit::id);
               base != basis.limits.limits.end()) {
        whole = bound_of_limit(basis, *base, item, at_least, seen);
    }
    return whole ? std::optional{*own * *whole} : std::nullopt;
}

} // namespace assay::judge
