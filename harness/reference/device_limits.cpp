// SPDX-License-Identifier: Apache-2.0
#include "reference/device_limits.hpp"

#include "json/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::reference {
namespace {

using record::human;
using reference::Engine;
using reference::HardwareEntry;

/// Values that follow from each other agree to the last printed digit; 3% is beyond rounding.
constexpr double same_figure = 0.03;

std::optional<double> figure(const reference::ByPrecision& figures, std::string_view precision) {
    const auto found = figures.find(precision);
    return found == figures.end() ? std::nullopt : std::optional{found->second};
}

class Limits {
public:
    Limits(const record::Case& c, const record::Device& device, const HardwareEntry& entry)
        : case_{c}, device_{device}, entry_{entry} {}

    DeviceLimits of(const Bound& bound) {
        switch (bound.limit) {
        case Limit::arithmetic:
            arithmetic(bound);
            break;
        case Limit::memory:
            memory();
            break;
        case Limit::link:
            link(bound.ways);
            break;
        case Limit::nvlink:
            nvlink(bound.ways);
            break;
        case Limit::peer:
            peer(bound.ways);
            break;
        case Limit::none:
            found_.reason = bound.reason;
            break;
        }
        return std::move(found_);
    }

private:
    void add(double value, std::string source) {
        found_.ceilings.push_back(
            {.value = value, .kind = record::CeilingKind::datasheet, .source = std::move(source)});
    }

    /// The printed value, with a warning if the computed one differs.
    void add_printed(std::optional<double> printed, const std::string& path,
                     std::optional<double> computed) {
        if (!printed) return;
        add(*printed, "printed for " + reference::with_origin(entry_.name, entry_.sheet, path));
        if (!computed || std::abs(*computed / *printed - 1) <= same_figure) return;
        const auto& unit = case_.metrics.front().unit;
        found_.warnings.push_back(
            fmt::format("the computed limit of {} is {}, the printed one {}: shares of either are "
                        "uncertain by {}",
                        entry_.name, human(*computed, unit), human(*printed, unit),
                        record::human_percent(std::abs(*computed / *printed - 1))));
    }

    /// The faster unit in this precision; nothing if neither supports it.
    std::optional<Engine> engine_for(const Bound& bound) const {
        std::optional<Engine> best;
        for (const auto* figures : {&entry_.rates, &entry_.peaks}) {
            double most = 0;
            for (const auto engine : {Engine::vector, Engine::tensor}) {
                const double value = figure(figures->of(engine), bound.precision).value_or(0);
                if ((engine == Engine::tensor && !bound.matrices) || value <= most) continue;
                most = value;
                best = engine;
            }
            if (best) break;
        }
        return best;
    }

    void arithmetic(const Bound& bound) {
        const auto engine = engine_for(bound);
        if (!engine) {
            found_.reason =
                fmt::format("configs/hardware has no {} rate of {}{}", bound.precision, entry_.name,
                            bound.matrices ? "" : " outside its tensor engines");
            return;
        }
        const auto rate = figure(entry_.rates.of(*engine), bound.precision);
        const auto count =
            device_.multiprocessors ? device_.multiprocessors : entry_.multiprocessors;
        const auto clock = reference::clock_of(entry_, *engine, bound.precision);
        const auto* work = case_.metrics.front().name == "operation_rate" ? "OP" : "FLOP";
        std::optional<double> computed;
        if (rate && count) {
            const double each = (bound.sparse ? 2 : 1) * *rate;
            const auto per_clock = *count * each;
            const auto formula = fmt::format("{} multiprocessors x {:g} {} per clock{}", *count,
                                             each, work, bound.sparse ? " with 2:4 sparsity" : "");
            if (clock) {
                computed = per_clock * *clock;
                add(*computed, fmt::format("{} of {}, the clock of {}'s values", formula,
                                           human(*clock, "Hz"), entry_.name));
            }
            if (const auto& seen = case_.telemetry.device; seen && seen->clock_hz.value_or(0) > 0)
                add(per_clock * *seen->clock_hz,
                    fmt::format("{} of {}, the mean clock of this window", formula,
                                human(*seen->clock_hz, "Hz")));
        }
        const auto* unit_name = bound.sparse                ? "sparse"
                                : *engine == Engine::tensor ? "tensor"
                                                            : "vector";
        add_printed(
            figure(bound.sparse ? entry_.sparse : entry_.peaks.of(*engine), bound.precision),
            fmt::format("peaks.{}.{}", unit_name, bound.precision), computed);
        // Without the vendor's clock, the vendor's value precedes one from this window's clock.
        if (!computed && found_.ceilings.size() > 1)
            std::swap(found_.ceilings.front(), found_.ceilings.back());
    }

    void memory() {
        const auto bits =
            device_.memory_bus_bits ? device_.memory_bus_bits : entry_.memory_bus_bits;
        const auto clock =
            device_.memory_clock_max_hz ? device_.memory_clock_max_hz : entry_.memory_clock_hz;
        std::optional<double> computed;
        constexpr double bits_per_byte = 8;
        constexpr double transfers = 2; // per clock: all device memory is double data rate
        const auto rate = [&](double hertz) { return *bits * hertz * transfers / bits_per_byte; };
        if (bits && clock) {
            computed = rate(*clock);
            add(*computed,
                fmt::format("{} bits twice per clock of {}", *bits, human(*clock, "Hz")));
            constexpr double same_clock = 0.005; // drivers round to 1 MHz
            const auto& seen = case_.telemetry.device;
            if (seen && seen->memory_clock_hz.value_or(0) > 0 &&
                std::abs(*seen->memory_clock_hz / *clock - 1) > same_clock)
                add(rate(*seen->memory_clock_hz),
                    fmt::format("{} bits twice per clock of {}, the lowest of this window", *bits,
                                human(*seen->memory_clock_hz, "Hz")));
        }
        add_printed(entry_.memory_bandwidth, "memory.bandwidth", computed);
        if (found_.ceilings.empty())
            found_.reason = fmt::format("configs/hardware has no bandwidth of {}", entry_.name);
    }

    /// All links together: a pair may have fewer if there is no switch.
    void nvlink(int ways) {
        if (device_.nvlinks && *device_.nvlinks == 0) {
            found_.reason = "the driver reports no active NVLink";
            return;
        }
        std::optional<double> computed;
        if (device_.nvlinks && entry_.nvlink_rate) {
            computed = ways * *device_.nvlinks * *entry_.nvlink_rate;
            add(*computed, fmt::format("{} NVLinks of {}{}", *device_.nvlinks,
                                       human(*entry_.nvlink_rate, "B/s"), ways_in_words(ways)));
        }
        // For a card whose bridge may be missing the printed value alone says nothing.
        if (entry_.nvlink_bandwidth && (computed || !entry_.nvlink_bridge))
            add_printed(ways * *entry_.nvlink_bandwidth, "nvlink.bandwidth", computed);
        if (found_.ceilings.empty())
            found_.reason =
                fmt::format("the number of active NVLinks of {} is unknown", entry_.name);
    }

    /// Copies between devices use NVLink if it is up, otherwise PCIe.
    void peer(int ways) {
        if (device_.nvlinks.value_or(0) > 0)
            nvlink(ways);
        else if (device_.nvlinks || !entry_.nvlink_bandwidth)
            link(ways);
        else
            found_.reason = "the links between two devices are unknown";
    }

    static const char* ways_in_words(int ways) {
        return ways > 1 ? ", both directions at once" : ", one direction";
    }

    void link(int ways) {
        const auto* both = ways_in_words(ways);
        if (entry_.host_link_bandwidth) {
            add(ways * *entry_.host_link_bandwidth,
                fmt::format("{} of {}{}", entry_.host_link, entry_.name, both));
            return;
        }
        const auto& seen = case_.telemetry.device;
        const bool is_seen = seen && seen->pcie_generation && seen->pcie_width;
        const auto generation = is_seen ? seen->pcie_generation : entry_.pcie_generation;
        const auto lanes = is_seen ? seen->pcie_width : entry_.pcie_lanes;
        const auto rate = generation ? reference::pcie_lane_rate(*generation) : std::nullopt;
        if (!rate || !lanes || *lanes <= 0) {
            found_.reason = "its PCIe link is unknown";
            return;
        }
        add(ways * *lanes * *rate,
            fmt::format("PCIe {}.0 x{}{}, {}", *generation, *lanes, both,
                        is_seen
                            ? "as seen in this window"
                            : fmt::format("the link that {} can have: it was not seen under load",
                                          entry_.name)));
    }

    const record::Case& case_;
    const record::Device& device_;
    const HardwareEntry& entry_;
    DeviceLimits found_;
};

/// Why no data sheet applies to this device; empty for a whole one.
std::string apart(const record::Device& device) {
    constexpr std::string_view rest = "no data sheet has its rates, and its peaks do not "
                                      "compare with those of whole devices";
    if (!device.mode.empty())
        return fmt::format("not a whole device ({}): {}", json::show_text(device.mode), rest);
    if (device.confidential.value_or(false))
        return "confidential computing is on: no data sheet has its rates, and its peaks do not "
               "compare with those of devices without it";
    return {};
}

/// The device with the fewest links: it limits the others.
const record::Device* slowest_of(const record::Machine& machine, const record::Place& place) {
    const record::Device* slowest = nullptr;
    for (const auto& device : machine.devices)
        if (device.kind == place.kind &&
            (slowest == nullptr || device.nvlinks.value_or(0) < slowest->nvlinks.value_or(0)))
            slowest = &device;
    return slowest;
}

} // namespace

DeviceLimits limits_of(plan::BoundBy by, const record::Case& c, const record::Machine& machine,
                       const Result<reference::Hardware>& hardware) {
    if (c.place.kind == "host" || c.metrics.empty()) return {};
    const bool several = c.place.uuid.empty() && bound_of(by, c, std::nullopt).several;
    const auto* device =
        several ? slowest_of(machine, c.place) : record::find_device(machine, c.place);
    if (device == nullptr) return {.reason = "no driver reported its device"};
    // Without a device's entry its cache is unknown, and nothing else depends on it here.
    const auto* entry = hardware ? reference::find_hardware(*hardware, *device) : nullptr;
    const auto bound = bound_of(by, c, entry != nullptr ? entry->l2_bytes : std::nullopt);
    if (bound.limit == Limit::none && bound.reason.empty()) return {};
    if (auto reason = apart(*device); !reason.empty()) return {.reason = std::move(reason)};
    if (!hardware) return {.reason = hardware.error().message};
    if (entry == nullptr) return {.reason = reference::unknown_hardware(*hardware, *device)};
    auto found = Limits{c, *device, *entry}.of(bound);
    const auto& own = c.evidence.cache_bytes;
    if (own && entry->l2_bytes && std::abs(*own / *entry->l2_bytes - 1) > same_figure)
        found.warnings.push_back(fmt::format(
            "{} reports an L2 cache of {}, configs/hardware has {}: the device's own value is used",
            entry->name, record::human_bytes(*own), record::human_bytes(*entry->l2_bytes)));
    return found;
}

// --- bound ---------------------------------------------------------------------------------------

namespace {

Bound arithmetic(const record::Case& c, bool matrices) {
    const auto precision = record::text(c.parameters, "precision");
    if (precision.empty()) return {};
    const auto known = std::ranges::find(reference::precision_names, std::string_view{precision},
                                         &reference::PrecisionName::parameter);
    if (known == reference::precision_names.end())
        return {.reason = fmt::format("no data sheet has a value for precision {}",
                                      json::show_text(precision))};
    return {.limit = Limit::arithmetic,
            .precision = std::string{known->hardware},
            .matrices = matrices,
            .sparse = is_sparse(c)};
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

bool is_sparse(const record::Case& c) {
    const auto sparsity = record::text(c.parameters, "sparsity");
    return !sparsity.empty() && sparsity != "none";
}

Bound bound_of(plan::BoundBy by, const record::Case& c, std::optional<double> l2_bytes) {
    switch (by) {
    case plan::BoundBy::vector_units:
    case plan::BoundBy::matrix_units:
        return arithmetic(c, by == plan::BoundBy::matrix_units);
    case plan::BoundBy::memory:
        return memory(c.evidence, l2_bytes);
    case plan::BoundBy::host_link:
        return {.limit = Limit::link, .ways = ways_of(c.evidence)};
    case plan::BoundBy::device_links:
        return links(c.evidence);
    case plan::BoundBy::network: // between machines: no limit of a device
    case plan::BoundBy::none:
        break;
    }
    return {};
}

} // namespace assay::reference
