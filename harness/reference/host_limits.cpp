// SPDX-License-Identifier: Apache-2.0
#include "reference/host_limits.hpp"

#include "json/words.hpp"
#include "record/format.hpp"
#include "reference/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace assay::harness {
namespace {

using datasheet::ProcessorEntry;
using record::human;

/// All instances of the last level.
std::optional<double> last_cache(const record::Machine& machine) {
    int level = 0;
    double bytes = 0;
    for (const auto& cache : machine.caches) {
        if (cache.level < level || cache.type == "instruction") continue;
        if (cache.level > level) bytes = 0;
        level = cache.level;
        bytes += static_cast<double>(cache.bytes) * cache.count;
    }
    return bytes > 0 ? std::optional{bytes} : std::nullopt;
}

std::optional<std::int64_t> threads_of(const record::Case& c) {
    const auto* value = record::find(c.settings, "threads");
    const auto* threads = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    return threads != nullptr && *threads > 0 ? std::optional{*threads} : std::nullopt;
}

/// The highest of its windows: published is what undisturbed replicas reached.
std::optional<double> clock_of(const record::Case& c) {
    double clock = c.telemetry.core_clock_hz.value_or(0);
    for (const auto& replica : c.replicas)
        clock = std::max(clock, replica.telemetry.core_clock_hz.value_or(0));
    return clock > 0 ? std::optional{clock} : std::nullopt;
}

bool is_guest(const record::Machine& machine) {
    return !machine.virtualization.empty() && machine.virtualization != "none";
}

class HostLimits {
public:
    HostLimits(const record::Case& c, const record::Machine& machine, const ProcessorEntry& entry)
        : case_{c}, machine_{machine}, entry_{entry} {}

    DeviceLimits arithmetic(const Bound& bound) {
        constexpr std::string_view any = "best";
        const auto isa = record::text(case_.parameters, "isa");
        const auto rate = datasheet::core_rate(entry_, machine_, bound.precision, bound.matrices,
                                               isa == any ? std::string_view{} : isa);
        const auto threads = threads_of(case_);
        if (!rate)
            return {.reason = fmt::format("configs/hardware has no {} rate of {}", bound.precision,
                                          entry_.name)};
        if (!threads) return {.reason = "the number of its threads is unknown"};
        const auto cores = std::min<std::int64_t>(
            *threads, machine_.usable_cores.value_or(static_cast<int>(*threads)));
        const auto* work = case_.metrics.front().name == "operation_rate" ? "OP" : "FLOP";
        const auto add = [&](std::optional<double> clock, std::string_view words) {
            if (!clock || !(*clock > 0)) return;
            add_limit(static_cast<double>(cores) * rate->per_clock * *clock,
                      fmt::format("cores in use: {} x {:g} {} per clock ({}) of {}, {}; {}", cores,
                                  rate->per_clock, work, rate->isa, human(*clock, "Hz"), words,
                                  datasheet::with_origin(
                                      entry_.name, entry_.core.sheet,
                                      fmt::format("rates.{}.{}", rate->isa, bound.precision))));
        };
        if (const auto clock = clock_of(case_))
            add(clock, "the highest clock of its windows");
        else
            add(machine_.core_clock_hz, "the clock of an idle machine");
        add(entry_.boost_clock_hz, "the highest clock of its data sheet");
        if (found_.ceilings.empty()) found_.reason = "the clock of its cores is unknown";
        return std::move(found_);
    }

    DeviceLimits memory() {
        const int sockets = threads_of(case_).value_or(0) == 1 ? 1 : sockets_in_use();
        const auto modules = modules_of(sockets);
        const auto channels = modules ? modules->first : times(sockets, entry_.memory_channels);
        const auto rate = modules ? modules->second : entry_.memory_transfer_rate;
        if (!channels || !rate)
            return {.reason =
                        fmt::format("configs/hardware has no memory bandwidth of {}", entry_.name)};
        constexpr double bytes = 8; // of one transfer
        add_limit(
            *channels * *rate * bytes,
            fmt::format(
                "memory channels of the sockets in use: {} x {:g} MT/s x {:g} B; {}{}", *channels,
                *rate / 1e6, bytes,
                modules ? std::string{"by its memory modules"}
                        : datasheet::with_origin(entry_.name, entry_.sheet, "memory.transfer_rate"),
                shares_sockets(sockets)
                    ? "; this guest may share them with others and then reaches less"
                    : ""));
        return std::move(found_);
    }

private:
    void add_limit(double value, std::string source) {
        found_.ceilings.push_back(
            {.value = value, .kind = record::CeilingKind::datasheet, .source = std::move(source)});
    }

    /// Some hypervisors show every CPU as a socket.
    int sockets_in_use() const {
        const int sockets = std::max(machine_.sockets.value_or(1), 1);
        if (!is_guest(machine_) || !entry_.cores || !machine_.cores) return sockets;
        return std::clamp((*machine_.cores + *entry_.cores - 1) / *entry_.cores, 1, sockets);
    }
    bool shares_sockets(int sockets) const {
        return is_guest(machine_) &&
               (!entry_.cores || machine_.cores.value_or(0) < sockets * *entry_.cores);
    }

    static std::optional<int> times(int sockets, std::optional<int> channels) {
        return channels ? std::optional{sockets * *channels} : std::nullopt;
    }

    /// Channels with a module, and their rate. Those that a guest sees are its hypervisor's invention.
    std::optional<std::pair<int, double>> modules_of(int sockets) const {
        int count = 0;
        double rate = 0;
        for (const auto& kind : machine_.platform.memory_modules) {
            if (!kind.type.starts_with("DDR")) return {};
            count += kind.count;
            rate = std::max(rate, kind.transfers_per_second.value_or(0));
        }
        const int all = std::max(machine_.sockets.value_or(1), 1);
        const auto most = entry_.memory_channels ? times(all, entry_.memory_channels)
                                                 : machine_.platform.memory_channels;
        if (is_guest(machine_) || !most || count <= 0 || !(rate > 0)) return {};
        // Two modules share a channel; fewer than channels leave some of them empty.
        return std::pair{std::max(std::min(count, *most) * sockets / all, 1), rate};
    }

    const record::Case& case_;
    const record::Machine& machine_;
    const ProcessorEntry& entry_;
    DeviceLimits found_;
};

} // namespace

DeviceLimits host_limits(BoundBy by, const record::Case& c, const record::Machine& machine,
                         const Result<datasheet::Hardware>& hardware) {
    if (c.place.kind != "host" || c.metrics.empty()) return {};
    const auto bound = bound_of(by, c, last_cache(machine));
    if (bound.limit != Limit::arithmetic && bound.limit != Limit::memory)
        return {.reason = bound.reason};
    if (!hardware) return {.reason = hardware.error().message};
    const auto* entry = datasheet::find_processor(hardware->processors, machine);
    if (entry == nullptr)
        return {.reason =
                    fmt::format("configs/hardware has no {}", json::show_text(machine.cpu_model))};
    HostLimits limits{c, machine, *entry};
    return bound.limit == Limit::arithmetic ? limits.arithmetic(bound) : limits.memory();
}

} // namespace assay::harness
