// SPDX-License-Identifier: Apache-2.0

#include "base/quantity.hpp"
#include "judge/lint.hpp"
#include "judge/match.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::judge {
namespace {

using reference::Engine;
using reference::HardwareEntry;

/// The smallest number that a pattern admits; nothing for other patterns.
std::optional<double> least_of(const std::string& pattern) {
    std::optional<double> least;
    for (const auto& text : alternatives(pattern)) {
        const auto number = parse_real(text);
        if (!number) return {};
        least = std::min(least.value_or(*number), *number);
    }
    return least;
}

std::optional<Peak> arithmetic(const Limit& limit, const HardwareEntry& chip) {
    const auto given = pattern_of(limit.cases, "precision");
    const auto pattern = given.empty() ? std::string{"*"} : given;
    const auto& benchmark = limit.cases.find("benchmark")->second;
    const bool products = matches("gemm.square|gemm.shapes|peak.tensor", benchmark);
    const bool vectors = benchmark == "peak.fma";
    const auto sparsity = pattern_of(limit.cases, "sparsity");
    const double sparse = !sparsity.empty() && matches(sparsity, "2:4") ? 2 : 1;
    Peak peak{.of = chip.name};
    double usual = std::numeric_limits<double>::infinity();
    for (const auto& name : reference::precision_names) {
        if (!matches(pattern, std::string{name.parameter})) continue;
        const auto rate = [&](Engine engine) {
            const auto& all = chip.peaks.of(engine);
            const auto found = all.find(name.hardware);
            return found == all.end() ? 0.0 : found->second;
        };
        const double best = std::max(rate(Engine::vector), rate(Engine::tensor));
        peak.most = std::max(peak.most, sparse * best);
        if (products) usual = std::min(usual, sparse * best);
        if (vectors) usual = std::min(usual, rate(Engine::vector));
    }
    if (!(peak.most > 0)) return {};
    if (!given.empty() && std::isfinite(usual) && usual > 0) peak.usual = usual;
    return peak;
}

bool may_be_both_ways(const Limit& limit) {
    const auto direction = pattern_of(limit.cases, "direction");
    return direction.empty() || direction.find_first_of("*?[") != std::string::npos ||
           direction.find("both") != std::string::npos;
}
bool is_beyond_caches(const Limit& limit) {
    const auto footprint = pattern_of(limit.cases, "footprint");
    return footprint.empty() || footprint == "beyond_cache";
}

std::optional<Peak> host_link(const Limit& limit, const HardwareEntry& chip) {
    const auto lane =
        chip.pcie_generation ? reference::pcie_lane_rate(*chip.pcie_generation) : std::nullopt;
    const auto pcie = lane && chip.pcie_lanes ? std::optional{*lane * *chip.pcie_lanes} : lane;
    const auto one_way = chip.host_link_bandwidth ? chip.host_link_bandwidth : pcie;
    if (!one_way) return {};
    Peak peak{.of = chip.name, .most = (may_be_both_ways(limit) ? 2 : 1) * *one_way};
    // Pageable memory and small copies are bounded by the host.
    if (pattern_of(limit.cases, "memory") != "pageable") peak.usual = one_way;
    return peak;
}

/// In-switch reduction (NVLink SHARP) sends and receives each byte once, so the bus bandwidth of an all-reduce may
/// reach twice that of the links.
std::optional<Peak> links(const HardwareEntry& chip, const std::string& benchmark) {
    if (!chip.nvlink_bandwidth) return {};
    const bool reduces = matches(benchmark, "collective.allreduce");
    Peak peak{.of = chip.name, .most = (reduces ? 2 : 1) * *chip.nvlink_bandwidth};
    if (!chip.nvlink_bridge) peak.usual = chip.nvlink_bandwidth;
    return peak;
}

std::optional<Peak> between_devices(const Limit& limit, const HardwareEntry& chip) {
    auto peak = chip.nvlink_bandwidth ? links(chip, "transfer.peer") : host_link(limit, chip);
    if (!peak) return {};
    if (chip.nvlink_bandwidth && may_be_both_ways(limit)) peak->most *= 2;
    if (!chip.nvlink_bandwidth) peak->usual.reset();
    return peak;
}

/// All cores at their highest clock, all memory channels; of as many sockets as the limit may be for.
std::optional<Peak> processor(const Limit& limit, const reference::ProcessorEntry& entry) {
    const auto sockets = least_of(pattern_of(limit.machine, "sockets")).value_or(2);
    if (limit.unit == "B/s") {
        constexpr double bytes = 8; // of one transfer
        if (limit.cases.find("benchmark")->second != "memory.stream" || !is_beyond_caches(limit) ||
            !entry.memory_channels || !entry.memory_transfer_rate)
            return {};
        return Peak{.of = entry.name,
                    .most = sockets * *entry.memory_channels * *entry.memory_transfer_rate * bytes};
    }
    const auto given = pattern_of(limit.cases, "precision");
    double each = 0; // clock of a core
    for (const auto& name : reference::precision_names)
        if (given.empty() || matches(given, std::string{name.parameter}))
            for (const auto& [isa, rates] : entry.core.rates)
                if (const auto rate = rates.find(name.hardware); rate != rates.end())
                    each = std::max(each, rate->second);
    if (!(each > 0) || !entry.cores || !entry.boost_clock_hz) return {};
    return Peak{.of = entry.name, .most = sockets * *entry.cores * *entry.boost_clock_hz * each};
}

/// Rate of all its network cards together in one direction, those of RDMA if it has such.
std::optional<double> network_of(const reference::InstanceEntry& instance) {
    constexpr double bytes_of_gigabit = 1e9 / 8;
    for (const auto* path : {"rdma_gbps", "network_gbps"})
        if (const auto found = instance.sheet.figures.find(path);
            found != instance.sheet.figures.end() && found->second.value.is_number())
            return found->second.value.get<double>() * bytes_of_gigabit;
    return {};
}

std::vector<Peak> network(const Limit& limit, double machines,
                          const reference::Hardware& hardware) {
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
        peaks.back().usual = rate;
    }
    return peaks;
}

std::optional<Peak> peak_of(const Limit& limit, const HardwareEntry& chip) {
    const auto& benchmark = limit.cases.find("benchmark")->second;
    if (limit.unit == "FLOP/s" || limit.unit == "OP/s") return arithmetic(limit, chip);
    if (limit.unit != "B/s") return {};
    if (benchmark == "memory.stream" && chip.memory_bandwidth && is_beyond_caches(limit))
        return Peak{
            .of = chip.name, .most = *chip.memory_bandwidth, .usual = chip.memory_bandwidth};
    if (benchmark == "transfer.host") return host_link(limit, chip);
    if (benchmark == "transfer.peer") return between_devices(limit, chip);
    if (benchmark.starts_with("collective.")) return links(chip, benchmark);
    return {};
}

/// Where its cases may run, by place and library, otherwise by the chips that it names: a host has no peak of a device.
struct Sides {
    bool host = true;
    bool device = true;
};
Sides sides_of(const Limit& limit) {
    constexpr std::string_view of_host = "host|openblas|onednn|fftw|mpi|ucx|ofi";
    Sides sides;
    for (const auto* key : {"place", "library"}) {
        const auto pattern = pattern_of(limit.cases, key);
        if (pattern.empty()) continue;
        Sides own{.host = false, .device = false};
        for (const auto& one : alternatives(pattern)) {
            const bool is_host = matches(of_host, one);
            own.host = own.host || is_host || one.find_first_of("*?[") != std::string::npos;
            own.device = own.device || !is_host;
        }
        sides = {.host = sides.host && own.host, .device = sides.device && own.device};
    }
    const bool names_device = limit.machine.contains("device");
    if (sides.host && sides.device && names_device != limit.machine.contains("cpu"))
        (names_device ? sides.host : sides.device) = false;
    return sides;
}

/// The fastest in the data sheets that the limit's cases may run on.
std::optional<Peak> fastest(const Limit& limit, Sides sides, const reference::Hardware& hardware) {
    std::optional<Peak> best;
    const auto take = [&](std::optional<Peak> peak) {
        if (peak && (!best || peak->most > best->most)) best = std::move(peak);
    };
    if (sides.device)
        for (const auto& chip : hardware.entries) take(peak_of(limit, chip));
    if (sides.host)
        for (const auto& entry : hardware.processors) take(processor(limit, entry));
    if (limit.unit == "B/s" && limit.cases.find("benchmark")->second.starts_with("network."))
        for (const auto& card : hardware.network_cards)
            if (card.port_bandwidth)
                take(Peak{.of = card.name, .most = 2 * *card.port_bandwidth}); // both ways
    if (!best) return {};
    best->usual.reset();
    constexpr double next_generations = 4;
    best->newer = next_generations;
    return best;
}

} // namespace

double most_latency(const Limit& limit) {
    const auto benchmark = pattern_of(limit.cases, "benchmark");
    if (matches("memory.latency|latency.core_to_core", benchmark)) return 5e-6;
    if (matches("latency.*|transfer.latency", benchmark)) return 1e-3;
    return matches("network.*", benchmark) ? 1e-2 : std::numeric_limits<double>::infinity();
}

double bus_bandwidth_between(double node_bandwidth, double nodes, double ranks) {
    const double of_ranks = std::isfinite(ranks) ? (ranks - 1) / ranks : 1;
    return node_bandwidth * nodes / (nodes - 1) * of_ranks;
}

std::vector<const HardwareEntry*> chips_of(const Limit& limit,
                                           const reference::Hardware& hardware) {
    const auto pattern = pattern_of(limit.machine, "device");
    std::vector<const HardwareEntry*> chips;
    if (pattern.empty()) return chips;
    for (const auto& entry : hardware.entries)
        if (std::ranges::any_of(entry.names,
                                [&](const auto& name) { return matches(pattern, name); }))
            chips.push_back(&entry);
    return chips;
}

std::vector<Peak> peaks_of(const Limit& limit, const reference::Hardware& hardware) {
    const auto benchmark = limit.cases.find("benchmark");
    if (benchmark == limit.cases.end() || !limit.share_of.empty()) return {};
    const auto machines = least_of(pattern_of(limit.cases, "machines"));
    if (benchmark->second.starts_with("collective.") && machines && *machines > 1)
        return network(limit, *machines, hardware);
    std::vector<Peak> peaks;
    if (!pattern_of(limit.machine, "mode").empty()) return peaks; // a part of a device
    const auto sides = sides_of(limit);
    const auto cpu = sides.host ? pattern_of(limit.machine, "cpu") : std::string{};
    const bool names_device = sides.device && limit.machine.contains("device");
    if (sides.device)
        for (const auto* chip : chips_of(limit, hardware))
            if (auto peak = peak_of(limit, *chip)) peaks.push_back(std::move(*peak));
    if (!cpu.empty())
        for (const auto& entry : hardware.processors)
            if (std::ranges::any_of(entry.names, [&](const auto& name) {
                    return matches(cpu, name) || matches(name, cpu);
                }))
                if (auto peak = processor(limit, entry)) peaks.push_back(std::move(*peak));
    if (names_device && !cpu.empty() && !peaks.empty()) { // either may be meant
        peaks = {*std::ranges::max_element(peaks, {}, &Peak::most)};
        peaks.front().usual.reset();
    }
    if (peaks.empty() && !names_device && cpu.empty())
        if (auto peak = fastest(limit, sides, hardware)) peaks.push_back(std::move(*peak));
    return peaks;
}

} // namespace assay::judge
