// SPDX-License-Identifier: Apache-2.0

#include "limits/peaks.hpp"

#include "base/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace assay::report {
namespace {

using datasheet::Engine;
using datasheet::HardwareEntry;

std::string pattern_of(const Selector& selector, std::string_view key) {
    const auto found = selector.find(key);
    return found == selector.end() ? std::string{} : found->second;
}

/// The smallest number that a pattern admits; nothing where it is none.
std::optional<double> least_of(const std::string& pattern) {
    std::optional<double> least;
    for (std::string_view rest = pattern;;) {
        const auto bar = rest.find('|');
        const auto number = parse_real(rest.substr(0, bar));
        if (!number) return {};
        least = std::min(least.value_or(*number), *number);
        if (bar == std::string_view::npos) return least;
        rest.remove_prefix(bar + 1);
    }
}

std::optional<Peak> arithmetic(const Limit& limit, const HardwareEntry& chip) {
    const auto pattern = pattern_of(limit.cases, "precision");
    const auto& benchmark = limit.cases.find("benchmark")->second;
    if (pattern.empty()) return {};
    const bool products = matches("gemm.square|gemm.shapes|peak.tensor", benchmark);
    const bool vectors = benchmark == "peak.fma";
    Peak peak{.of = chip.name};
    double usual = std::numeric_limits<double>::infinity();
    for (const auto& name : datasheet::precision_names) {
        if (!matches(pattern, std::string{name.parameter})) continue;
        const auto rate = [&](Engine engine) {
            const auto& all = chip.peaks.of(engine);
            const auto found = all.find(name.hardware);
            return found == all.end() ? 0.0 : found->second;
        };
        const double best = std::max(rate(Engine::vector), rate(Engine::tensor));
        peak.most = std::max(peak.most, best);
        if (products) usual = std::min(usual, best);
        if (vectors) usual = std::min(usual, rate(Engine::vector));
    }
    if (!(peak.most > 0)) return {};
    if (std::isfinite(usual) && usual > 0) peak.usual = usual;
    return peak;
}

std::optional<Peak> host_link(const Limit& limit, const HardwareEntry& chip) {
    const auto lane =
        chip.pcie_generation ? datasheet::pcie_lane_rate(*chip.pcie_generation) : std::nullopt;
    const auto pcie = lane && chip.pcie_lanes ? std::optional{*lane * *chip.pcie_lanes} : lane;
    const auto one_way = chip.host_link_bandwidth ? chip.host_link_bandwidth : pcie;
    if (!one_way) return {};
    const auto direction = pattern_of(limit.cases, "direction");
    const bool both = direction.empty() || direction.find("both") != std::string::npos ||
                      direction.find('*') != std::string::npos;
    Peak peak{.of = chip.name, .most = (both ? 2 : 1) * *one_way};
    // Pageable memory and small copies are bounded by the host.
    if (pattern_of(limit.cases, "memory") != "pageable") peak.usual = *one_way;
    return peak;
}

/// In-switch reduction (NVLink SHARP) sends and receives each byte once, so the bus bandwidth of an all-reduce may
/// reach twice that of the links.
std::optional<Peak> links(const HardwareEntry& chip, const std::string& benchmark) {
    if (!chip.nvlink_bandwidth) return {};
    const bool reduces = matches(benchmark, "collective.allreduce");
    Peak peak{.of = chip.name, .most = (reduces ? 2 : 1) * *chip.nvlink_bandwidth};
    if (!chip.nvlink_bridge) peak.usual = *chip.nvlink_bandwidth;
    return peak;
}

/// Of all its network cards together in one direction, those of RDMA where it has such.
std::optional<double> network_of(const datasheet::InstanceEntry& instance) {
    constexpr double bytes_of_gigabit = 1e9 / 8;
    for (const auto* path : {"rdma_gbps", "network_gbps"})
        if (const auto found = instance.sheet.figures.find(path);
            found != instance.sheet.figures.end() && found->second.value.is_number())
            return found->second.value.get<double>() * bytes_of_gigabit;
    return {};
}

std::vector<Peak> network(const Limit& limit, double machines,
                          const datasheet::Hardware& hardware) {
    const auto instance = pattern_of(limit.machine, "instance");
    const auto ranks = least_of(pattern_of(limit.cases, "ranks"));
    std::vector<Peak> peaks;
    if (instance.empty()) return peaks;
    for (const auto& entry : hardware.instances) {
        const auto rate = matches(instance, entry.type) ? network_of(entry) : std::nullopt;
        if (!rate) continue;
        peaks.push_back(
            {.of = entry.type,
             .most = bus_bandwidth_between(
                 *rate, machines, ranks.value_or(std::numeric_limits<double>::infinity()))});
        peaks.back().usual = *rate;
    }
    return peaks;
}

std::optional<Peak> peak_of(const Limit& limit, const HardwareEntry& chip) {
    const auto& benchmark = limit.cases.find("benchmark")->second;
    if (limit.unit == "FLOP/s" || limit.unit == "OP/s") return arithmetic(limit, chip);
    if (limit.unit != "B/s") return {};
    if (benchmark == "memory.stream" && chip.memory_bandwidth) {
        const auto footprint = pattern_of(limit.cases, "footprint");
        if (!footprint.empty() && footprint != "beyond_cache") return {};
        return Peak{
            .of = chip.name, .most = *chip.memory_bandwidth, .usual = chip.memory_bandwidth};
    }
    if (benchmark == "transfer.host") return host_link(limit, chip);
    if (benchmark.starts_with("collective.")) return links(chip, benchmark);
    return {};
}

} // namespace

double bus_bandwidth_between(double node_bandwidth, double nodes, double ranks) {
    const double of_ranks = std::isfinite(ranks) ? (ranks - 1) / ranks : 1;
    return node_bandwidth * nodes / (nodes - 1) * of_ranks;
}

std::vector<const HardwareEntry*> chips_of(const Limit& limit,
                                           const datasheet::Hardware& hardware) {
    const auto pattern = pattern_of(limit.machine, "device");
    std::vector<const HardwareEntry*> chips;
    if (pattern.empty()) return chips;
    for (const auto& entry : hardware.entries)
        if (std::ranges::any_of(entry.names,
                                [&](const auto& name) { return matches(pattern, name); }))
            chips.push_back(&entry);
    return chips;
}

std::vector<Peak> peaks_of(const Limit& limit, const datasheet::Hardware& hardware) {
    const auto benchmark = limit.cases.find("benchmark");
    if (benchmark == limit.cases.end() || !limit.share_of.empty()) return {};
    const auto machines = least_of(pattern_of(limit.cases, "machines"));
    if (benchmark->second.starts_with("collective.") && machines && *machines > 1)
        return network(limit, *machines, hardware);
    std::vector<Peak> peaks;
    if (!pattern_of(limit.machine, "mode").empty()) return peaks; // a part of a device
    for (const auto* chip : chips_of(limit, hardware))
        if (auto peak = peak_of(limit, *chip)) peaks.push_back(std::move(*peak));
    return peaks;
}

} // namespace assay::report
