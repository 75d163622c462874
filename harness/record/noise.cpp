// SPDX-License-Identifier: Apache-2.0
#include "record/noise.hpp"

#include "stats/fast_level.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace assay::record {

namespace {

using Code = DisturbanceCode;

/// Those that come from outside the node, and whom they slow. On a device other programs count where they use the
/// host's memory: if they take the CPU of the thread that feeds the device, that thread waits.
constexpr unsigned bit(Influence influence) { return 1U << static_cast<unsigned>(influence); }
constexpr unsigned on_host =
    bit(Influence::host) | bit(Influence::host_memory) | bit(Influence::program);
constexpr unsigned on_device = bit(Influence::device) | bit(Influence::link) |
                               bit(Influence::launch) | bit(Influence::program);
struct Slows {
    Code code;
    unsigned cases; ///< bits of Influence
};
constexpr std::array outside{
    Slows{Code::foreign_cpu, on_host | bit(Influence::link)},
    Slows{Code::steal, on_host | bit(Influence::launch)},
    Slows{Code::waiting, on_host | bit(Influence::launch)},
    Slows{Code::clock_low, on_host | bit(Influence::launch)},
    Slows{Code::cpus_moved, on_host},
    Slows{Code::neighbours,
          bit(Influence::host_memory) | bit(Influence::link) | bit(Influence::program)},
    Slows{Code::device_shared, on_device},
};

constexpr std::array<std::string_view, 4> host_timed{"latency.kernel", "latency.graph",
                                                     "latency.stream", "transfer.latency"};
constexpr std::array memory_families{"memory.", "stencil.", "sparse.", "sort.", "transfer."};

bool is_text(const Value* value, std::string_view wanted) {
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
    return text != nullptr && *text == wanted;
}

Influence on_host_of(const Case& c) {
    const bool uses_memory = (c.spread && c.spread->source == "memory") ||
                             std::ranges::any_of(memory_families, [&](std::string_view family) {
                                 return c.benchmark.starts_with(family);
                             });
    return uses_memory ? Influence::host_memory : Influence::host;
}

} // namespace

Influence influence_of(const Case& c) {
    const std::string_view id = c.benchmark;
    if (c.place.kind.empty() || c.place.kind == "host") return on_host_of(c);
    if (c.library == "external") return Influence::program;
    if (id.starts_with("collective.") || id.starts_with("network.")) return Influence::launch;
    // The parameter `interval` says what is timed, and by whose clock.
    if (std::ranges::find(host_timed, id) != host_timed.end())
        return is_text(find(c.parameters, "interval"), "device") ? Influence::device
                                                                 : Influence::launch;
    return id == "transfer.host" ? Influence::link : Influence::device;
}

bool can_slow(Code code, Influence influence) {
    const auto* const row = std::ranges::find(outside, code, &Slows::code);
    return row != outside.end() && (row->cases & bit(influence)) != 0;
}

bool concerns(Code code, Influence influence) {
    switch (code) {
    case Code::clock_fell:
    case Code::clock_rose:
    case Code::too_hot: // the processor
        return can_slow(Code::clock_low, influence);
    case Code::quota:
        return can_slow(Code::waiting, influence);
    default:
        return can_slow(code, influence) ||
               std::ranges::find(outside, code, &Slows::code) == outside.end();
    }
}

namespace {

struct Deviations {
    double between_replicas;
    double between_runs;
};
struct WorkNoise {
    std::string_view work;
    std::array<Deviations, 4> at; ///< in the order of NoisePlace
};
/// Devices, and guests with 16 CPUs, as measured on an H100 and an H200. Products of two H100 lie 0.8 to 1.2% apart,
/// and two runs of one H100 as much: 0.7% for each. Bare metal is recalled, not measured, and so are messages of
/// devices. A device has no work of its own that depends on the host other than copies, launches and messages: the
/// others have the values of the device there.
constexpr std::array work_noise{
    WorkNoise{"arithmetic", {{{0.004, 0.007}, {0.004, 0.007}, {0.005, 0.005}, {0.02, 0.03}}}},
    WorkNoise{"memory", {{{0.0002, 0.001}, {0.01, 0.05}, {0.01, 0.015}, {0.06, 0.17}}}},
    WorkNoise{"workload", {{{0.001, 0.005}, {0.001, 0.005}, {0.01, 0.015}, {0.04, 0.07}}}},
    WorkNoise{"fft", {{{0.0005, 0.001}, {0.0005, 0.001}, {0.02, 0.02}, {0.07, 0.09}}}},
    WorkNoise{"messages", {{{0.01, 0.02}, {0.01, 0.02}, {0.12, 0.12}, {0.12, 0.12}}}},
    WorkNoise{"latency", {{{0.01, 0.03}, {0.08, 0.15}, {0.02, 0.02}, {0.05, 0.06}}}},
};
/// Few, so that five replicas outweigh them.
constexpr double prior_degrees = 3;
constexpr NoiseLevel unknown_work{.between_replicas = 0.05, .between_runs = 0.1, .degrees = 0};

} // namespace

NoisePlace noise_place(const Case& c, const Machine& machine) {
    switch (influence_of(c)) {
    case Influence::device:
        return NoisePlace::device;
    case Influence::link:
    case Influence::launch:
    case Influence::program:
        return NoisePlace::device_and_host;
    default:
        return machine.virtualization == "none" ? NoisePlace::bare_metal : NoisePlace::guest;
    }
}

NoiseLevel noise_level(std::string_view work, NoisePlace place) {
    const auto* const row = std::ranges::find(work_noise, work, &WorkNoise::work);
    if (row == work_noise.end()) return unknown_work;
    const auto& noise = row->at.at(static_cast<std::size_t>(place));
    return {.between_replicas = noise.between_replicas,
            .between_runs = noise.between_runs,
            .degrees = prior_degrees};
}

Spread expected_spread(const NoiseLevel& level, double target, int replicas, std::string source) {
    constexpr double usual_excess =
        1.5; // half as wide again as usual does not make a case unstable
    const double usual =
        stats::expected_half_width({.deviation = level.between_replicas, .degrees = level.degrees},
                                   static_cast<std::size_t>(replicas));
    return {.between_replicas = level.between_replicas,
            .between_runs = level.between_runs,
            .degrees = level.degrees,
            .limit = std::isfinite(usual) ? std::max(target, usual_excess * usual) : target,
            .replicas = replicas,
            .source = std::move(source),
            .rules = current_rules};
}

} // namespace assay::record
