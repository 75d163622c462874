// SPDX-License-Identifier: Apache-2.0
#include "reference/sheet_bounds.hpp"

#include "json/words.hpp"
#include "record/format.hpp"
#include "record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace assay::reference {
namespace {

// tests/unit/reference/bounds_test.cpp compares it with the sources.
constexpr std::array declared{
    DeclaredBound{"collective.*", plan::BoundBy::none, plan::BoundBy::device_links},
    DeclaredBound{"gemm.shapes", plan::BoundBy::none, plan::BoundBy::matrix_units},
    DeclaredBound{"gemm.square", plan::BoundBy::matrix_units, plan::BoundBy::matrix_units},
    DeclaredBound{"memory.gather", plan::BoundBy::memory, plan::BoundBy::memory},
    DeclaredBound{"memory.bulk_copy", plan::BoundBy::none, plan::BoundBy::memory},
    DeclaredBound{"memory.hierarchy", plan::BoundBy::memory, plan::BoundBy::memory},
    DeclaredBound{"memory.matrix", plan::BoundBy::none, plan::BoundBy::memory},
    DeclaredBound{"memory.stream", plan::BoundBy::memory, plan::BoundBy::memory},
    DeclaredBound{"memory.stride", plan::BoundBy::none, plan::BoundBy::memory},
    DeclaredBound{"model.image_classification", plan::BoundBy::none, plan::BoundBy::matrix_units},
    DeclaredBound{"model.llm_decode", plan::BoundBy::none, plan::BoundBy::memory},
    DeclaredBound{"model.llm_prefill", plan::BoundBy::none, plan::BoundBy::matrix_units},
    DeclaredBound{"model.training_step", plan::BoundBy::none, plan::BoundBy::matrix_units},
    DeclaredBound{"montecarlo.option", plan::BoundBy::vector_units, plan::BoundBy::vector_units},
    DeclaredBound{"network.get", plan::BoundBy::network, plan::BoundBy::none},
    DeclaredBound{"network.put", plan::BoundBy::network, plan::BoundBy::none},
    DeclaredBound{"peak.dot", plan::BoundBy::matrix_units, plan::BoundBy::none},
    DeclaredBound{"peak.fma", plan::BoundBy::vector_units, plan::BoundBy::vector_units},
    DeclaredBound{"peak.tensor", plan::BoundBy::none, plan::BoundBy::matrix_units},
    DeclaredBound{"sparse.spmv", plan::BoundBy::memory, plan::BoundBy::memory},
    DeclaredBound{"stencil.filter2d", plan::BoundBy::vector_units, plan::BoundBy::vector_units},
    DeclaredBound{"stencil.heat3d", plan::BoundBy::memory, plan::BoundBy::none},
    DeclaredBound{"stencil.window", plan::BoundBy::memory, plan::BoundBy::none},
    DeclaredBound{"transfer.device", plan::BoundBy::none, plan::BoundBy::memory},
    DeclaredBound{"transfer.host", plan::BoundBy::none, plan::BoundBy::host_link},
    DeclaredBound{"transfer.peer", plan::BoundBy::none, plan::BoundBy::device_links},
    DeclaredBound{"workload.attention", plan::BoundBy::none, plan::BoundBy::memory},
    DeclaredBound{"workload.convolution", plan::BoundBy::none, plan::BoundBy::matrix_units},
    DeclaredBound{"workload.convolution3d", plan::BoundBy::none, plan::BoundBy::matrix_units},
    DeclaredBound{"workload.prefill_attention", plan::BoundBy::none, plan::BoundBy::matrix_units},
    DeclaredBound{"workload.transformer_layer", plan::BoundBy::none, plan::BoundBy::matrix_units},
};

} // namespace

DeviceLimits network_limits(plan::BoundBy by, const record::Case& c) {
    const auto& told = c.evidence;
    auto source = told.network_rate_source;
    if (by != plan::BoundBy::network || source.empty()) return {};
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

plan::BoundBy declared_bound(std::string_view benchmark, bool on_host) {
    const auto family = benchmark.substr(0, benchmark.find('.'));
    for (const auto& one : declared)
        if (one.benchmark == benchmark ||
            (one.benchmark.ends_with(".*") &&
             one.benchmark.substr(0, one.benchmark.size() - 2) == family))
            return on_host ? one.on_host : one.on_device;
    return plan::BoundBy::none;
}

std::string_view work_unit(const record::Metric& roof) {
    if (roof.name == "bandwidth") return "byte";
    if (roof.name == "flop_rate") return "FLOP";
    return roof.name == "operation_rate" ? "operation" : "";
}

double per_unit(const record::Case& judged, const record::Metric& metric) {
    const auto& headline = judged.metrics.front();
    if (metric.unit == headline.unit) return 1;
    const auto own = std::ranges::find(judged.metrics, metric.name, &record::Metric::name);
    if (work_unit(metric).empty() || own == judged.metrics.end() || !own->value) return 0;
    if (!record::is_computed(judged, headline.name) || !record::is_computed(judged, own->name))
        return 0;
    return headline.higher_is_better && *own->value > 0 ? *headline.value / *own->value : 0;
}

namespace {

DeviceLimits in_own_unit(plan::BoundBy by, const record::Case& c, const record::Machine& machine,
                         const Result<reference::Hardware>& hardware) {
    if (c.place.kind != "host") return limits_of(by, c, machine, hardware);
    if (by == plan::BoundBy::network) return network_limits(by, c);
    if (by == plan::BoundBy::memory && record::find(c.parameters, "part") != nullptr)
        return {.reason = "a data sheet knows no part of a host's memory"};
    return host_limits(by, c, machine, hardware);
}

/// The metric that a data sheet bounds, in a case whose headline is a rate of items.
const record::Metric* roof_of(plan::BoundBy by, const record::Case& c) {
    const bool is_memory = by == plan::BoundBy::memory;
    if (!is_memory && by != plan::BoundBy::vector_units && by != plan::BoundBy::matrix_units)
        return nullptr;
    const auto found = std::ranges::find_if(c.metrics, [&](const record::Metric& metric) {
        const auto unit = work_unit(metric);
        return !unit.empty() && (unit == "byte") == is_memory;
    });
    return found == c.metrics.end() ? nullptr : &*found;
}

} // namespace

DeviceLimits sheet_limits(plan::BoundBy by, const record::Case& c, const record::Machine& machine,
                          const Result<reference::Hardware>& hardware) {
    if (c.metrics.front().name != "item_rate") return in_own_unit(by, c, machine, hardware);
    const auto* roof = roof_of(by, c);
    const double scale = roof == nullptr ? 0 : per_unit(c, *roof);
    if (!(scale > 0)) return {};
    auto of_roof = c;
    of_roof.metrics.front() = *roof;
    auto limits = in_own_unit(by, of_roof, machine, hardware);
    for (auto& ceiling : limits.ceilings) {
        if (ceiling.value) *ceiling.value *= scale;
        ceiling.source += fmt::format("; times the work per {} of this case", work_unit(*roof));
    }
    return limits;
}

void add_missing_bounds(record::Run& run) {
    for (auto& c : run.cases) {
        const bool is_bare = c.ceiling.kind == record::CeilingKind::none &&
                             c.ceiling.source.empty() && c.other_ceilings.empty();
        const auto by = declared_bound(c.benchmark, c.place.kind == "host");
        if (!is_bare || !is_measured(c.status) || c.metrics.empty() || by == plan::BoundBy::none)
            continue;
        auto limits = sheet_limits(by, c, run.machine, reference::installed_hardware());
        if (limits.ceilings.empty()) continue;
        c.ceiling = std::move(limits.ceilings.front());
        limits.ceilings.erase(limits.ceilings.begin());
        c.other_ceilings = std::move(limits.ceilings);
    }
}

// --- host limits ---------------------------------------------------------------------------------

namespace {

using record::human;
using reference::ProcessorEntry;

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
        const auto rate = reference::core_rate(entry_, machine_, bound.precision, bound.matrices,
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
                                  reference::with_origin(
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
                        : reference::with_origin(entry_.name, entry_.sheet, "memory.transfer_rate"),
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

DeviceLimits host_limits(plan::BoundBy by, const record::Case& c, const record::Machine& machine,
                         const Result<reference::Hardware>& hardware) {
    if (c.place.kind != "host" || c.metrics.empty()) return {};
    const auto bound = bound_of(by, c, last_cache(machine));
    if (bound.limit != Limit::arithmetic && bound.limit != Limit::memory)
        return {.reason = bound.reason};
    if (!hardware) return {.reason = hardware.error().message};
    const auto* entry = reference::find_processor(hardware->processors, machine);
    if (entry == nullptr)
        return {.reason =
                    fmt::format("configs/hardware has no {}", json::show_text(machine.cpu_model))};
    HostLimits limits{c, machine, *entry};
    return bound.limit == Limit::arithmetic ? limits.arithmetic(bound) : limits.memory();
}

} // namespace assay::reference
