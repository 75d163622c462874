// SPDX-License-Identifier: Apache-2.0
#include "reference/bound.hpp"

#include "json/words.hpp"
#include "record/format.hpp"
#include "reference/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::harness {
namespace {

Bound arithmetic(const record::Case& c, bool matrices) {
    const auto precision = record::text(c.parameters, "precision");
    if (precision.empty()) return {};
    const auto known = std::ranges::find(datasheet::precision_names, std::string_view{precision},
                                         &datasheet::PrecisionName::parameter);
    if (known == datasheet::precision_names.end())
        return {.reason = fmt::format("no data sheet has a value for precision {}",
                                      json::show_text(precision))};
    return {.limit = Limit::arithmetic,
            .precision = std::string{known->hardware},
            .matrices = matrices};
}

/// A pass over four times the cache size finds at most a quarter of the data in the cache.
constexpr double beyond = 4;

Bound memory(const record::Evidence& told, std::optional<double> l2_bytes) {
    const auto& bytes = told.footprint_bytes;
    if (!bytes) return {.reason = "its memory footprint is unknown"};
    if (told.cache_bytes) l2_bytes = told.cache_bytes;
    if (!l2_bytes) return {.reason = "the size of the device's last-level cache is unknown"};
    if (*bytes >= beyond * *l2_bytes) return {.limit = Limit::memory};
    return {.reason = fmt::format("its {} may stay in the device's last cache ({})",
                                  record::human_bytes(*bytes), record::human_bytes(*l2_bytes))};
}

int ways_of(const record::Evidence& told) { return told.directions.value_or(1) > 1 ? 2 : 1; }

/// Bus bandwidth is defined so that no algorithm exceeds one direction of a device's links, unless the NVLink
/// switch does part of the work: it reduces and multicasts.
Bound links(const record::Evidence& told) {
    if (told.machines.value_or(1) > 1)
        return {
            .reason =
                "several machines took part; data sheets do not cover the network between them"};
    if (!told.switch_work.empty())
        return {.reason = fmt::format("{} uses in-switch reduction (NVLink SHARP), so bus "
                                      "bandwidth may exceed what a device's links carry",
                                      json::show_text(told.switch_work))};
    const auto by = [&](Limit limit) {
        return Bound{.limit = limit, .ways = ways_of(told), .several = true};
    };
    switch (told.links) {
    case record::Links::
        host: // copies go by the devices' links to it, at best as fast as one of them
        return by(Limit::link);
    case record::Links::nvlink:
        return by(Limit::nvlink);
    case record::Links::peer:
        return by(Limit::peer);
    case record::Links::other:
        return {.reason = "no data sheet has a limit of the links that messages took"};
    case record::Links::unknown:
        break;
    }
    return {.reason = "the transport is unknown"};
}

} // namespace

Bound bound_of(BoundBy by, const record::Case& c, std::optional<double> l2_bytes) {
    switch (by) {
    case BoundBy::vector_units:
    case BoundBy::matrix_units:
        return arithmetic(c, by == BoundBy::matrix_units);
    case BoundBy::memory:
        return memory(c.evidence, l2_bytes);
    case BoundBy::host_link:
        return {.limit = Limit::link, .ways = ways_of(c.evidence)};
    case BoundBy::device_links:
        return links(c.evidence);
    case BoundBy::network: // between machines: no limit of a device
    case BoundBy::none:
        break;
    }
    return {};
}

} // namespace assay::harness
