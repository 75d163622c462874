// SPDX-License-Identifier: Apache-2.0
#include "core/bound.hpp"

#include "json/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::core {
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
    if (!l2_bytes) return {.reason = "nothing says how large the device's last cache is"};
    if (*bytes >= beyond * *l2_bytes) return {.limit = Limit::memory};
    return {.reason = fmt::format("its {} may stay in the device's last cache ({})",
                                  record::human_bytes(*bytes), record::human_bytes(*l2_bytes))};
}

/// Copies between devices have none: the way may be NVLink, PCIe or the host's memory.
Bound transfer(const record::Case& c, std::optional<double> l2_bytes) {
    if (c.benchmark == "transfer.device") return memory(c, l2_bytes);
    if (c.benchmark == "transfer.peer")
        return {.reason = "nothing says which links join two devices"};
    if (c.benchmark != "transfer.host") return {};
    return {.limit = Limit::link, .ways = text_of(c.parameters, "direction") == "both" ? 2 : 1};
}

} // namespace

Bound bound_of(const record::Case& c, std::optional<double> l2_bytes) {
    if (c.metrics.empty()) return {};
    const auto& metric = c.metrics.front().name;
    if (metric == "flop_rate" || metric == "operation_rate") return arithmetic(c);
    if (metric != "bandwidth") return {};
    if (is_of(c, "memory")) return memory(c, l2_bytes);
    if (is_of(c, "transfer")) return transfer(c, l2_bytes);
    return {};
}

} // namespace assay::core
