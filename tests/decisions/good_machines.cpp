// SPDX-License-Identifier: Apache-2.0

#include "good_machines.hpp"

#include "reference/processor.hpp"
#include "situation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace assay::decisions {
namespace {

/// The features that the rates of a data sheet need.
std::vector<std::string> features_of(const reference::ProcessorEntry& entry) {
    std::vector<std::string> all = entry.needs;
    const auto add = [&](std::string name) {
        if (std::ranges::find(entry.lacks, name) == entry.lacks.end())
            all.push_back(std::move(name));
    };
    for (const auto& [isa, rates] : entry.core.rates) {
        const auto has = [&](const char* precision) { return rates.contains(precision); };
        if (isa == "avx2") add("avx2");
        if (isa == "avx512") {
            add("avx512f");
            if (has("bf16")) add("avx512_bf16");
            if (has("int8")) add("avx512_vnni");
            if (has("fp16")) add("avx512_fp16");
        }
        if (isa == "amx") {
            if (has("bf16")) add("amx_bf16");
            if (has("int8")) add("amx_int8");
        }
        if (isa == "neon" || isa == "sve") {
            add("asimd");
            add("asimdhp");
            add("asimddp");
            if (has("bf16")) add("bf16");
            if (isa == "sve") add("sve");
            if (isa == "sve" && has("int8")) add("i8mm");
        }
    }
    return all;
}

/// "AMD EPYC 7002" of "AMD EPYC 7??2*".
std::string example_of(std::string pattern) {
    std::erase(pattern, '*');
    std::ranges::replace(pattern, '?', '0');
    while (pattern.ends_with(' ')) pattern.pop_back();
    return pattern;
}

const std::vector<std::string>& real_host_isa() {
    static const auto isa = read(real("h100-acceptance-interrupted")).machine.isa;
    return isa;
}

} // namespace

const reference::Hardware& hardware() {
    static const auto all = [] {
        auto read = reference::read_hardware();
        if (!read) throw std::runtime_error{read.error().message};
        return *std::move(read);
    }();
    return all;
}

bool is_known(const reference::HardwareEntry& chip) { return !chip.names.empty(); }

const reference::ProcessorEntry* processor_of(const record::Machine& machine) {
    return reference::find_processor(hardware().processors, machine);
}

record::Machine machine_of(const HostKind& kind) {
    record::Machine machine;
    machine.cpu_model = kind.cpu_model;
    machine.cpu_vendor = kind.vendor;
    machine.architecture = kind.architecture;
    machine.isa = kind.isa;
    if (machine.isa.empty()) {
        for (const auto& entry : hardware().processors) {
            if (entry.core.vendor != kind.vendor) continue;
            machine.isa = features_of(entry);
            if (processor_of(machine) == &entry) break;
            machine.isa.clear();
        }
        if (machine.isa.empty()) throw std::logic_error{"no data sheet for " + kind.cpu_model};
    }
    machine.sockets = kind.sockets;
    for (auto* count :
         {&machine.cores, &machine.threads, &machine.usable_cores, &machine.usable_threads})
        *count = kind.cores;
    machine.numa_nodes = kind.sockets;
    const auto* const entry = processor_of(machine);
    const double boost = entry == nullptr ? 3e9 : entry->boost_clock_hz.value_or(3.2e9);
    machine.core_clock_hz = 0.92 * boost;
    machine.caches = {{.level = 1, .type = "data", .bytes = 32768, .count = kind.cores},
                      {.level = 2, .type = "unified", .bytes = 1 << 20U, .count = kind.cores},
                      {.level = 3,
                       .type = "unified",
                       .bytes = std::int64_t{32} << 20U,
                       .count = std::max(1, kind.cores / 8)}};
    machine.memory_bytes = std::int64_t{4} << 30U;
    *machine.memory_bytes *= kind.cores;
    machine.huge_pages = "madvise";
    machine.os = "Ubuntu 24.04.3 LTS";
    machine.kernel = "6.8.0";
    machine.virtualization = kind.is_guest ? "kvm" : "none";
    machine.provider = "unknown";
    machine.platform.governor = kind.is_guest ? "" : "performance";
    if (kind.modules > 0 && entry != nullptr && entry->memory_transfer_rate)
        machine.platform.memory_modules = {{.count = kind.modules,
                                            .bytes = std::int64_t{32} << 30U,
                                            .type = "DDR5",
                                            .transfers_per_second = *entry->memory_transfer_rate}};
    return machine;
}

record::Telemetry quiet(const record::Machine& machine) {
    return {.window_seconds = 0.14,
            .core_clock_hz = machine.core_clock_hz,
            .foreign_cpu = 0,
            .steal = 0,
            .throttle_events = 0,
            .page_migrations = 0};
}

record::Telemetry quiet(const record::Machine& machine, const reference::HardwareEntry& chip) {
    auto telemetry = quiet(machine);
    telemetry.device = record::DeviceTelemetry{.samples = 3,
                                               .power_watts = 0.8 * chip.power.value_or(300),
                                               .clock_hz = chip.vector_clock_hz,
                                               .memory_clock_hz = chip.memory_clock_hz,
                                               .temperature_celsius = 55,
                                               .ecc_corrected = 0,
                                               .ecc_uncorrected = 0,
                                               .pcie_generation = chip.pcie_generation,
                                               .pcie_width = chip.pcie_lanes,
                                               .pcie_generation_max = chip.pcie_generation,
                                               .pcie_width_max = chip.pcie_lanes,
                                               .pcie_replays = 0,
                                               .other_processes = 0};
    return telemetry;
}

std::vector<HostKind> host_kinds() {
    const HostKind epyc{.cpu_model = "AMD EPYC 9R14", .vendor = "AuthenticAMD"};
    const HostKind xeon{.cpu_model = "Intel(R) Xeon(R) Platinum 8488C", .vendor = "GenuineIntel"};
    const HostKind graviton{
        .cpu_model = "AWS Graviton4 (Arm Neoverse V2)", .vendor = "Arm", .architecture = "aarch64"};
    const HostKind older{
        .cpu_model = "AWS Graviton3 (Arm Neoverse V1)", .vendor = "Arm", .architecture = "aarch64"};
    std::vector<HostKind> all;
    const auto add = [&](HostKind kind, int cores, int sockets, const char* type) {
        kind.cores = cores;
        kind.sockets = sockets;
        for (const bool is_guest : {false, true}) {
            kind.is_guest = is_guest;
            // A host of two cores has two modules of memory, not those of a large socket.
            kind.modules = cores == 2 && !is_guest ? 1 : 0;
            kind.name = fmt::format("{}-{}-{}", type, cores, is_guest ? "guest" : "bare");
            all.push_back(kind);
        }
    };
    add(epyc, 2, 1, "x86");
    add(xeon, 16, 1, "x86");
    add(epyc, 96, 1, "x86");
    add(epyc, 192, 2, "x86");
    add(graviton, 2, 1, "arm");
    add(older, 16, 1, "arm");
    add(graviton, 96, 1, "arm");
    add(graviton, 192, 2, "arm");
    // The only host of a GPU that is measured so far: 16 CPUs that are threads.
    all.push_back({.name = "x86-16-threads",
                   .cpu_model = "Intel(R) Xeon(R) Processor",
                   .vendor = "GenuineIntel",
                   .isa = real_host_isa(),
                   .cores = 16,
                   .is_guest = true,
                   .are_threads = true});
    return all;
}

std::vector<HostKind> every_processor() {
    std::vector<HostKind> all;
    std::set<std::string> names;
    for (const auto& entry : hardware().processors) {
        if (entry.names.empty()) continue;
        HostKind kind{.name = "cpu-" + entry.id,
                      .cpu_model = example_of(entry.names.front()),
                      .vendor = entry.core.vendor,
                      .isa = features_of(entry),
                      .cores = entry.cores.value_or(32)};
        if (entry.core.rates.contains("neon") || entry.core.rates.contains("sve"))
            kind.architecture = "aarch64";
        all.push_back(std::move(kind));
    }
    return all;
}

HostKind host_of_one() {
    for (auto& kind : host_kinds())
        if (kind.name == "x86-16-guest") return kind;
    throw std::logic_error{"no such host"};
}
HostKind host_of_eight() {
    for (auto& kind : host_kinds())
        if (kind.name == "x86-96-bare") return kind;
    throw std::logic_error{"no such host"};
}

} // namespace assay::decisions
