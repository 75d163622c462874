// SPDX-License-Identifier: Apache-2.0

#include "report/roofline.hpp"

#include "document/language.hpp"
#include "document/texts/report.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "record/summary.hpp"
#include "stats/levels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

namespace assay::report {

using namespace document;
namespace {

const record::Metric* find_metric(const record::Case& c, std::string_view name) {
    const auto found = std::ranges::find(c.metrics, name, &record::Metric::name);
    return found == c.metrics.end() || !found->value ? nullptr : &*found;
}

std::string name_of(const record::Case& c) {
    return case_name(c.benchmark, c.parameters, c.settings);
}

/// Counted by the benchmark, or of a product the least there is to move: each matrix once.
std::optional<double> bytes_of(const record::Case& c, double flops) {
    if (const auto bytes = record::number(c.work, "bytes")) return bytes;
    static constexpr std::array<std::pair<std::string_view, double>, 4> sizes{
        {{"fp64", 8}, {"fp32", 4}, {"bf16", 2}, {"fp16", 2}}};
    const auto size = std::ranges::find(sizes, record::text(c.parameters, "precision"),
                                        &std::pair<std::string_view, double>::first);
    if (c.benchmark != "gemm.square" || size == sizes.end()) return std::nullopt;
    const double lines = std::cbrt(flops / 2); // 2 n^3 operations
    return 3 * lines * lines * size->second;
}

/// Identities of the cases that bound others.
std::set<std::string> measured_ceilings(const record::Run& run) {
    const Bounds bounds{run};
    std::set<std::string> identities;
    for (const auto& c : run.cases)
        if (const auto* bound = bounds.of(c);
            bound != nullptr && bound->status != record::Status::disturbed)
            identities.insert(record::identity(*bound));
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
    if (!flops) return;
    const auto bytes = bytes_of(c, *flops);
    const auto* rate = find_metric(c, "flop_rate");
    if (!bytes || !(*flops > 0) || !(*bytes > 0) || rate == nullptr) return;
    if (!(*rate->value > 0)) return;
    roofline.cases.push_back(
        {{.label = name_of(c), .intensity = *flops / *bytes, .rate = *rate->value},
         record::identity(c),
         c.benchmark,
         fmt::format("{}", fmt::join(parameter_parts(c), ", ")),
         c.library});
}

/// The plateaus of the fastest sweep of reads over working sets, that of all cores where there is one; without its end,
/// which is memory.
std::vector<Roof> levels_of(const record::Run& run, const std::string& place) {
    std::map<std::string, std::vector<stats::CurvePoint>> sweeps;
    for (const auto& c : run.cases) {
        const auto* rate = headline(c);
        const auto footprint = record::number(c.settings, "footprint");
        const auto access = record::text(c.parameters, "access");
        if (c.benchmark != "memory.hierarchy" || record::words_of(c.place) != place ||
            c.status == record::Status::disturbed || rate == nullptr || !footprint ||
            (!access.empty() && access != "read"))
            continue;
        auto others = c.parameters;
        std::erase_if(others, [](const auto& parameter) { return parameter.name == "footprint"; });
        std::string key = c.library;
        for (const auto& [name, value] : others)
            key += fmt::format(" {}={}", name, record::to_string(value));
        sweeps[key].push_back({.size = *footprint, .value = *rate->value});
    }
    std::vector<Roof> best;
    for (const auto& [key, points] : sweeps) {
        const auto last = std::ranges::max(points, {}, &stats::CurvePoint::size).size;
        std::vector<Roof> roofs;
        for (const auto& level : stats::find_levels(points, stats::Trend::falling))
            if (level.to * 1.01 < last) // a size comes back rounded
                roofs.push_back(
                    {say<text::report::roof_level>(record::human_bytes(level.to)), level.value});
        if (!roofs.empty() && (best.empty() || roofs.front().value > best.front().value))
            best = std::move(roofs);
    }
    return best;
}

} // namespace

Bounds::Bounds(const record::Run& run) {
    for (const auto& c : run.cases) {
        const auto* rate = headline(c);
        if (rate == nullptr) continue;
        by_identity_.try_emplace(record::identity(c), &c);
        by_value_.try_emplace({record::words_of(c.place), *rate->value}, &c);
    }
}

const record::Case* Bounds::of(const record::Case& c, const record::Ceiling& ceiling) const {
    if (ceiling.kind != record::CeilingKind::measured) return nullptr;
    if (ceiling.measured_by) {
        const auto found = by_identity_.find(*ceiling.measured_by);
        return found == by_identity_.end() ? nullptr : found->second;
    }
    const auto found = by_value_.find({record::words_of(c.place), ceiling.value.value_or(0)});
    return found == by_value_.end() ? nullptr : found->second;
}

void settle_ceilings(record::Run& run) {
    const Bounds bounds{run};
    const auto says_nothing = [&](const record::Case& c, const record::Ceiling& ceiling) {
        const auto* bound = bounds.of(c, ceiling);
        return bound == &c || (bound != nullptr && bound->status == record::Status::disturbed);
    };
    for (auto& c : run.cases) {
        const auto wordings = record::above_ceiling(c);
        std::erase_if(c.warnings, [&](const auto& warning) {
            return std::ranges::find(wordings, warning) != wordings.end();
        });
        std::erase_if(c.other_ceilings,
                      [&](const auto& ceiling) { return says_nothing(c, ceiling); });
        if (!says_nothing(c, c.ceiling)) continue;
        const auto* bound = bounds.of(c);
        c.ceiling = {.source = bound == &c
                                   ? ""
                                   : say<text::words::disturbed_bound>(record::identity(*bound))};
    }
}

std::vector<Roofline> make_rooflines(const record::Run& run) {
    std::vector<Roofline> rooflines;
    const auto ceilings = measured_ceilings(run);
    for (const auto& c : run.cases) {
        const auto place = record::words_of(c.place);
        auto own = std::ranges::find(rooflines, place, &Roofline::place);
        if (own == rooflines.end())
            own = rooflines.insert(
                own, {.place = place, .peaks = {}, .bandwidths = {}, .levels = {}, .cases = {}});
        add(c, ceilings.contains(record::identity(c)), *own);
    }
    std::erase_if(rooflines, [](const Roofline& r) {
        return r.peaks.empty() || r.bandwidths.empty() || r.cases.empty();
    });
    for (auto& roofline : rooflines) {
        by_value(roofline.peaks);
        by_value(roofline.bandwidths);
        roofline.levels = levels_of(run, roofline.place);
    }
    return rooflines;
}

} // namespace assay::report
