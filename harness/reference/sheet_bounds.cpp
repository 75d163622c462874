// SPDX-License-Identifier: Apache-2.0
#include "reference/sheet_bounds.hpp"

#include "reference/host_limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace assay::harness {
namespace {

// tests/unit/reference/bounds_test.cpp holds it against the sources.
constexpr std::array declared{
    DeclaredBound{"collective.*", BoundBy::none, BoundBy::device_links},
    DeclaredBound{"gemm.shapes", BoundBy::none, BoundBy::matrix_units},
    DeclaredBound{"gemm.square", BoundBy::matrix_units, BoundBy::matrix_units},
    DeclaredBound{"memory.gather", BoundBy::memory, BoundBy::memory},
    DeclaredBound{"memory.hierarchy", BoundBy::memory, BoundBy::memory},
    DeclaredBound{"memory.matrix", BoundBy::none, BoundBy::memory},
    DeclaredBound{"memory.stream", BoundBy::memory, BoundBy::memory},
    DeclaredBound{"memory.stride", BoundBy::none, BoundBy::memory},
    DeclaredBound{"montecarlo.option", BoundBy::vector_units, BoundBy::vector_units},
    DeclaredBound{"network.get", BoundBy::network, BoundBy::none},
    DeclaredBound{"network.put", BoundBy::network, BoundBy::none},
    DeclaredBound{"peak.dot", BoundBy::matrix_units, BoundBy::none},
    DeclaredBound{"peak.fma", BoundBy::vector_units, BoundBy::vector_units},
    DeclaredBound{"peak.tensor", BoundBy::none, BoundBy::matrix_units},
    DeclaredBound{"sparse.spmv", BoundBy::memory, BoundBy::memory},
    DeclaredBound{"stencil.filter2d", BoundBy::vector_units, BoundBy::vector_units},
    DeclaredBound{"stencil.heat3d", BoundBy::memory, BoundBy::none},
    DeclaredBound{"stencil.window", BoundBy::memory, BoundBy::none},
    DeclaredBound{"transfer.device", BoundBy::none, BoundBy::memory},
    DeclaredBound{"transfer.host", BoundBy::none, BoundBy::host_link},
    DeclaredBound{"transfer.peer", BoundBy::none, BoundBy::device_links},
    DeclaredBound{"workload.attention", BoundBy::none, BoundBy::memory},
    DeclaredBound{"workload.convolution", BoundBy::none, BoundBy::matrix_units},
    DeclaredBound{"workload.convolution3d", BoundBy::none, BoundBy::matrix_units},
    DeclaredBound{"workload.transformer_layer", BoundBy::none, BoundBy::matrix_units},
};

} // namespace

DeviceLimits network_limits(BoundBy by, const record::Case& c) {
    const auto& told = c.evidence;
    auto source = told.network_rate_source;
    if (by != BoundBy::network || source.empty()) return {};
    if (!told.machines) return {.reason = "the number of machines is unknown"};
    if (*told.machines < 2) return {.reason = "on one machine, messages need not use its network"};
    if (*told.machines > 2 || told.ranks.value_or(0) != 2)
        return {.reason = "the network devices of only one of several pairs are known"};
    const auto& rate = told.network_bytes_per_second;
    if (!rate) return {.reason = std::move(source)};
    if (!(*rate > 0) || !std::isfinite(*rate))
        return {.reason = "the rate of its network is not a positive number"};
    const bool both = told.directions.value_or(1) > 1;
    DeviceLimits limits;
    limits.ceilings.push_back(
        {.value = both ? 2 * *rate : *rate,
         .kind = record::CeilingKind::datasheet,
         .source = std::move(source) + (both ? ", both directions at once" : "")});
    return limits;
}

std::span<const DeclaredBound> declared_bounds() { return declared; }

BoundBy declared_bound(std::string_view benchmark, bool on_host) {
    const auto family = benchmark.substr(0, benchmark.find('.'));
    for (const auto& one : declared)
        if (one.benchmark == benchmark ||
            (one.benchmark.ends_with(".*") &&
             one.benchmark.substr(0, one.benchmark.size() - 2) == family))
            return on_host ? one.on_host : one.on_device;
    return BoundBy::none;
}

DeviceLimits sheet_limits(BoundBy by, const record::Case& c, const record::Machine& machine,
                          const Result<datasheet::Hardware>& hardware) {
    if (c.place.kind != "host") return limits_of(by, c, machine, hardware);
    if (by == BoundBy::network) return network_limits(by, c);
    if (by == BoundBy::memory && record::find(c.parameters, "part") != nullptr)
        return {.reason = "a data sheet knows no part of a host's memory"};
    return host_limits(by, c, machine, hardware);
}

void add_missing_bounds(record::Run& run) {
    for (auto& c : run.cases) {
        const bool is_bare = c.ceiling.kind == record::CeilingKind::none &&
                             c.ceiling.source.empty() && c.other_ceilings.empty();
        const auto by = declared_bound(c.benchmark, c.place.kind == "host");
        if (!is_bare || !is_measured(c.status) || c.metrics.empty() || by == BoundBy::none)
            continue;
        auto limits = sheet_limits(by, c, run.machine, datasheet::installed_hardware());
        if (limits.ceilings.empty()) continue;
        c.ceiling = std::move(limits.ceilings.front());
        limits.ceilings.erase(limits.ceilings.begin());
        c.other_ceilings = std::move(limits.ceilings);
    }
}

} // namespace assay::harness
