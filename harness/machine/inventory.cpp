// SPDX-License-Identifier: Apache-2.0
#include "machine/inventory.hpp"

#include "machine/cpu.hpp"
#include "machine/devices.hpp"
#include "machine/guest.hpp"
#include "machine/nvml.hpp"
#include "machine/pci.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <system_error>
#include <utility>

namespace assay::machine {
namespace {

void add_shape(const Sources& sources, record::Machine& machine) {
    const Shape& shape = sources.shape;
    machine.sockets = shape.sockets;
    machine.cores = shape.cores;
    machine.threads = shape.threads;
    machine.numa_nodes = shape.numa_nodes;
    machine.caches = shape.caches;
    int cores = static_cast<int>(shape.usable.size());
    int threads = 0;
    for (const auto& core : shape.usable) threads += static_cast<int>(core.size());
    // Whole CPUs only, at least one: a thread stopped by the quota makes its team wait
    // (decisions/timing.md 0030).
    if (const auto quota = cpu_quota(sources.files)) {
        const int allowed = static_cast<int>(std::clamp(std::floor(*quota), 1.0, 1e6));
        cores = std::min(cores, allowed);
        threads = std::min(threads, allowed);
    }
    machine.usable_cores = cores;
    machine.usable_threads = threads;
}

/// "r8g.48xlarge", "hpc7g.4xlarge", "im4gn.large": a g behind the generation stands for Graviton, as Amazon's naming of
/// instance types says; the first ones were called a1.
bool has_graviton(std::string_view instance) {
    if (instance.starts_with("a1.")) return true;
    const auto generation = instance.find_first_of("0123456789");
    if (generation == std::string_view::npos) return false;
    auto options = instance.substr(generation);
    options = options.substr(0, options.find_first_of(".-"));
    return options.find('g') != std::string_view::npos;
}

/// The chip of NVIDIA's Grace by the firmware (SMCCC_ARCH_SOC_ID): JEP106's bank 3, code 6b is NVIDIA, the chip is
/// T241, as Linux names it in drivers/irqchip/irq-gic-v3.c. Firmware may not tell, and guests are seldom told.
bool is_grace(const Files& files) {
    const std::filesystem::path chips = "/sys/bus/soc/devices";
    return std::ranges::any_of(files.names(chips), [&](const std::string& name) {
        return files.line(chips / name / "soc_id") == "jep106:036b:0241";
    });
}

/// Chips with cores of Arm's that have names of their own. Without evidence it stays the core: several makers use one.
void name_chip(const Files& files, record::Machine& machine) {
    struct Graviton {
        std::string_view design;
        std::string_view name;
    };
    const std::string design = machine.cpu_model;
    const auto name = [&](std::string_view chip) {
        machine.cpu_model = fmt::format("{} ({})", chip, design);
    };
    if (design == "Arm Neoverse V2" && is_grace(files)) return name("NVIDIA Grace");
    if (machine.provider != "aws" || !has_graviton(machine.instance)) return;
    for (const auto& [of, chip] : {Graviton{.design = "Arm Cortex-A72", .name = "AWS Graviton"},
                                   Graviton{.design = "Arm Neoverse N1", .name = "AWS Graviton2"},
                                   Graviton{.design = "Arm Neoverse V1", .name = "AWS Graviton3"},
                                   Graviton{.design = "Arm Neoverse V2", .name = "AWS Graviton4"},
                                   Graviton{.design = "Arm Neoverse V3", .name = "AWS Graviton5"}})
        if (design == of) name(chip);
}

double known(double value) { return value > 0 ? value : std::nan(""); }
double known(const std::optional<int>& count) { return known(count.value_or(0)); }

bool holds_data(const record::Cache& cache) { return cache.type != "instruction"; }

/// Bytes of the caches furthest from the cores.
double last_level_bytes(const record::Machine& machine) {
    int level = 0;
    for (const record::Cache& cache : machine.caches)
        if (holds_data(cache)) level = std::max(level, cache.level);
    double bytes = 0;
    for (const record::Cache& cache : machine.caches)
        if (holds_data(cache) && cache.level == level)
            bytes += static_cast<double>(cache.bytes) * cache.count;
    return bytes;
}

/// Bytes of one cache of this level; the smallest, if cores differ: data that fits it fits all.
double cache_bytes(const record::Machine& machine, int level) {
    double bytes = 0;
    for (const record::Cache& cache : machine.caches)
        if (holds_data(cache) && cache.level == level)
            bytes = bytes > 0 ? std::min(bytes, static_cast<double>(cache.bytes))
                              : static_cast<double>(cache.bytes);
    return bytes;
}

double memory_total(const record::Machine& machine) {
    return static_cast<double>(
        machine.memory_limit_bytes.value_or(machine.memory_bytes.value_or(0)));
}

/// Of the nearest folder that exists.
std::optional<std::int64_t> free_bytes(std::filesystem::path folder) {
    std::error_code error;
    folder = std::filesystem::absolute(folder, error);
    while (!std::filesystem::exists(folder, error) && folder.has_relative_path())
        folder = folder.parent_path();
    const auto space = std::filesystem::space(folder, error);
    constexpr auto most = std::uintmax_t{1} << 62U;
    if (error || space.available > most) return {};
    return static_cast<std::int64_t>(space.available);
}

double memory_available() {
    const auto bytes = available_memory(Files{});
    return bytes ? static_cast<double>(*bytes) : std::nan("");
}

} // namespace

record::Machine inspect(const Sources& sources) {
    const Files& files = sources.files;
    const Cpu cpu = read_cpu(files);
    const Firmware firmware = read_firmware(files);
    const Cloud cloud = read_cloud(files, firmware);
    const Memory memory = read_memory(files);

    record::Machine machine;
    machine.cpu_model = cpu.model;
    machine.cpu_vendor = cpu.vendor;
    machine.isa = cpu.isa;
    machine.architecture = sources.architecture;
    machine.core_clock_hz = sources.core_clock_hz;
    add_shape(sources, machine);
    if (memory.bytes > 0) machine.memory_bytes = memory.bytes;
    machine.memory_limit_bytes = memory.limit_bytes;
    machine.huge_pages = memory.huge_pages;
    machine.pci = read_pci(files);
    machine.os = operating_system(files);
    machine.kernel = kernel_release(files);
    machine.virtualization = virtualization(files, firmware, sources.hypervisor, cpu.is_guest);
    machine.container = container(files);
    machine.provider = cloud.provider;
    machine.instance = cloud.instance;
    machine.system = system_name(firmware);
    name_chip(files, machine);
    machine.software = own_software();
    machine.platform = read_platform(files, sources.network_firmware);
    machine.platform.region = cloud.region;
    machine.platform.zone = cloud.zone;
    auto serials = read_serials(files);
    if (!sources.nvml.empty()) {
        auto found = read_devices(files, machine.pci, sources.nvml);
        machine.devices = std::move(found.devices);
        machine.software.insert(machine.software.end(), found.software.begin(),
                                found.software.end());
        std::ranges::move(found.serials, std::back_inserter(serials));
    }
    machine.identity.node = sources.node;
    identify(files, cloud.instance_id, serials, machine);
    record_serials(std::move(serials), sources.serials, machine);
    return machine;
}

record::Machine inspect(const Options& options) {
    Sources sources{.files = Files{},
                    .shape = read_shape(),
                    .architecture = architecture(),
                    .hypervisor = ask_hypervisor(),
                    .network_firmware = ask_network_firmware};
    sources.serials = options.serials;
    sources.node = options.node;
    if (options.devices) sources.nvml = driver::nvml_library;
    if (options.core_clock) sources.core_clock_hz = measure_steady_core_clock();
    record::Machine machine = inspect(sources);
    if (options.hostname) machine.hostname = host_name();
    if (!options.results.empty()) machine.platform.results_free_bytes = free_bytes(options.results);
    return machine;
}

double fact(const record::Machine& machine, std::string_view name) {
    if (name == "cores") return known(machine.usable_cores);
    if (name == "threads") return known(machine.usable_threads);
    if (name == "cache.last_level") return known(last_level_bytes(machine));
    if (name == "cache.l1d") return known(cache_bytes(machine, 1));
    if (name == "cache.l2") return known(cache_bytes(machine, 2));
    if (name == "memory.total") return known(memory_total(machine));
    if (name == "memory.available") return memory_available();
    if (name == "numa.nodes") return known(machine.numa_nodes);
    if (name == "sockets") return known(machine.sockets);
    if (name == "core_clock_hz") return known(machine.core_clock_hz.value_or(0));
    return std::nan("");
}

std::string fact_text(const record::Machine& machine, std::string_view name) {
    if (name == "cpu.model") return machine.cpu_model;
    if (name == "isa") return fmt::format("{}", fmt::join(machine.isa, " "));
    return {};
}

} // namespace assay::machine
