// SPDX-License-Identifier: Apache-2.0

#include "model/roofline.hpp"

#include "model/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace assay::report {
namespace {

const record::Metric* find_metric(const record::Case& c, std::string_view name) {
    const auto found = std::ranges::find(c.metrics, name, &record::Metric::name);
    return found == c.metrics.end() || !found->value ? nullptr : &*found;
}

std::string name_of(const record::Case& c) {
    return fmt::format("{}: {}", c.benchmark, fmt::join(parameter_parts(c), ", "));
}

/// Identities of the cases that bound others. Files from before bounds had `measured_by` know their values alone.
std::set<std::string> measured_ceilings(const record::Run& run) {
    std::set<std::string> identities;
    for (const auto& c : run.cases) {
        if (c.ceiling.kind != record::CeilingKind::measured) continue;
        if (c.ceiling.measured_by) {
            identities.insert(*c.ceiling.measured_by);
            continue;
        }
        const auto bound = std::ranges::find_if(run.cases, [&](const auto& other) {
            const auto* rate = headline(other);
            return rate != nullptr && other.place == c.place && rate->value == c.ceiling.value;
        });
        if (bound != run.cases.end()) identities.insert(record::identity(*bound));
    }
    return identities;
}

void by_value(std::vector<Roof>& roofs) {
    std::ranges::sort(roofs, std::ranges::greater{}, &Roof::value);
}

void add(const record::Case& c, bool is_ceiling, Roofline& roofline) {
    const auto* first = headline(c);
    if (first == nullptr || !first->value) return;
    if (is_ceiling && first->unit == "FLOP/s")
        roofline.peaks.push_back({name_of(c), *first->value});
    if (is_ceiling && first->unit == "B/s")
        roofline.bandwidths.push_back({name_of(c), *first->value});
    const auto flops = record::number(c.work, "flops");
    const auto bytes = record::number(c.work, "bytes");
    const auto* rate = find_metric(c, "flop_rate");
    if (!flops || !bytes || !(*flops > 0) || !(*bytes > 0) || rate == nullptr) return;
    if (!(*rate->value > 0)) return;
    roofline.cases.push_back({.identity = record::identity(c),
                              .benchmark = c.benchmark,
                              .what = fmt::format("{}", fmt::join(parameter_parts(c), ", ")),
                              .library = c.library,
                              .intensity = *flops / *bytes,
                              .rate = *rate->value});
}

} // namespace

std::vector<Roofline> make_rooflines(const record::Run& run) {
    std::vector<Roofline> rooflines;
    const auto ceilings = measured_ceilings(run);
    for (const auto& c : run.cases) {
        const auto place = record::words_of(c.place);
        auto own = std::ranges::find(rooflines, place, &Roofline::place);
        if (own == rooflines.end())
            own =
                rooflines.insert(own, {.place = place, .peaks = {}, .bandwidths = {}, .cases = {}});
        add(c, ceilings.contains(record::identity(c)), *own);
    }
    std::erase_if(rooflines, [](const Roofline& r) {
        return r.peaks.empty() || r.bandwidths.empty() || r.cases.empty();
    });
    for (auto& roofline : rooflines) {
        by_value(roofline.peaks);
        by_value(roofline.bandwidths);
    }
    return rooflines;
}

} // namespace assay::report
