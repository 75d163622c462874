// SPDX-License-Identifier: Apache-2.0
#include "roofline/bound.hpp"

#include "json/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::harness {
namespace {

std::string text_of(const record::NamedList& list, std::string_view name) {
    const auto* value = record::find(list, name);
    return value == nullptr ? "" : record::to_string(*value);
}

std::optional<double> number_of(const record::NamedList& list, std::string_view name) {
    const auto* value = record::find(list, name);
    if (value == nullptr) return {};
    if (const auto* real = std::get_if<double>(value)) return *real;
    if (const auto* integer = std::get_if<std::int64_t>(value))
        return static_cast<double>(*integer);
    return {};
}

bool is_of(const record::Case& c, std::string_view family) {
    return c.benchmark.size() > family.size() && c.benchmark.starts_with(family) &&
           c.benchmark[family.size()] == '.';
}

Bound arithmetic(const record::Case& c) {
    const auto precision = text_of(c.parameters, "precision");
    if (precision.empty()) return {};
    const auto known =
        std::ranges::find(precision_names, std::string_view{precision}, &PrecisionName::parameter);
    if (known == precision_names.end())
        return {.reason = fmt::format("no data sheet has a figure for precision {}",
                                      json::show_text(precision))};
    // A benchmark of the issue rate says by its name which units it keeps busy.
    const bool matrices = is_of(c, "gemm") || is_of(c, "workload") || c.benchmark == "peak.tensor";
    return {.limit = Limit::arithmetic,
            .precision = std::string{known->hardware},
            .matrices = matrices};
}

/// A pass over four times the cache finds at most a quarter of it there.
constexpr double beyond = 4;

Bound memory(const record::Case& c, std::optional<double> l2_bytes) {
    if (text_of(c.parameters, "footprint") == "beyond_cache") return {.limit = Limit::memory};
    std::optional<double> bytes;
    for (const auto* list : {&c.settings, &c.parameters})
        for (const char* name : {"footprint", "bytes"})
            if (!bytes) bytes = number_of(*list, name);
    if (!bytes) return {.reason = "nothing says how much memory it goes through"};
    if (const auto own = reported_l2(c)) l2_bytes = own;
    if (!l2_bytes) return {.reason = "nothing says how large the device's last cache is"};
    if (*bytes >= beyond * *l2_bytes) return {.limit = Limit::memory};
    return {.reason = fmt::format("its {} may stay in the device's last cache ({})",
                                  record::human_bytes(*bytes), record::human_bytes(*l2_bytes))};
}

/// Copies through the host's memory go by the devices' links to it, at best as fast as one of them.
Bound transfer(const record::Case& c, std::optional<double> l2_bytes) {
    if (c.benchmark == "transfer.device") return memory(c, l2_bytes);
    const auto direction = text_of(c.parameters, "direction");
    if (c.benchmark == "transfer.peer")
        return {.limit = text_of(c.parameters, "path") == "host" ? Limit::link : Limit::peer,
                .ways = direction == "both_ways" ? 2 : 1,
                .several = true};
    if (c.benchmark != "transfer.host") return {};
    return {.limit = Limit::link, .ways = direction == "both" ? 2 : 1};
}

/// Bus bandwidth is defined so that no algorithm exceeds one direction of the links of a device, unless somebody
/// else does a part of the work: the switch of NVLink, which adds up and copies.
Bound collective(const record::Case& c) {
    const auto path = text_of(c.settings, "path");
    const auto algorithm = text_of(c.settings, "nccl.algorithm");
    const auto kernel = text_of(c.settings, "nccl.kernel");
    if (number_of(c.settings, "machines").value_or(1) > 1)
        return {.reason = "several machines took part, and no data sheet has their network"};
    if (algorithm.starts_with("NVLS") || !kernel.empty())
        return {.reason = fmt::format("{} has NVLink's switch do a part of the work, so that bus "
                                      "bandwidth may exceed what a device's links carry",
                                      json::show_text(kernel.empty() ? algorithm : kernel))};
    if (path == "nvlink") return {.limit = Limit::nvlink, .several = true};
    if (path == "pcie_peer" || path == "shared_memory")
        return {.limit = Limit::link, .several = true};
    return {.reason = path.empty() ? "nothing says which way messages took"
                                   : fmt::format("no data sheet has a limit of the way {}",
                                                 json::show_text(path))};
}

} // namespace

std::optional<double> reported_l2(const record::Case& c) {
    return number_of(c.settings, "l2_bytes");
}

Bound bound_of(const record::Case& c, std::optional<double> l2_bytes) {
    if (c.metrics.empty()) return {};
    const auto& metric = c.metrics.front().name;
    if (metric == "flop_rate" || metric == "operation_rate") return arithmetic(c);
    if (metric == "bus_bandwidth") return collective(c);
    if (metric != "bandwidth") return {};
    if (is_of(c, "memory")) return memory(c, l2_bytes);
    if (is_of(c, "transfer")) return transfer(c, l2_bytes);
    return {};
}

} // namespace assay::harness
