// SPDX-License-Identifier: Apache-2.0

#include "judge/bound.hpp"

#include "stats/summary.hpp"

#include <algorithm>
#include <vector>

namespace assay::report {
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

bool bounds(const Series& series, std::string_view benchmark, const Series& other) {
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
                                     bool at_least, const Observation& seen) {
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

} // namespace assay::report
