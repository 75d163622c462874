// SPDX-License-Identifier: Apache-2.0
#include "machine/inventory.hpp"

#include "base/text.hpp"
#include "machine/cpu.hpp"
#include "machine/devices.hpp"
#include "machine/guest.hpp"
#include "machine/nvml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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

/// Free bytes in the nearest folder that exists.
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
    // On Grace the kernel counts the memory of the GPUs as its own.
    const auto bytes = memory.bytes - (is_grace(files) ? memory.far_bytes : 0);
    if (bytes > 0) machine.memory_bytes = bytes;
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
    machine.platform.memoryless_nodes = memory.nodes_without;
    if (cloud.burstable) machine.platform.burstable = true;
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
    if (options.devices) sources.nvml = machine::nvml_library;
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

// --- pci -----------------------------------------------------------------------------------------

namespace {

struct Vendor {
    std::string_view id;
    std::string_view name;
};
// Vendors of accelerators and network devices in servers and clouds. Ids: PCI-SIG.
constexpr std::array vendors = {
    Vendor{.id = "1002", .name = "AMD"},          Vendor{.id = "1013", .name = "Cirrus Logic"},
    Vendor{.id = "102b", .name = "Matrox"},       Vendor{.id = "1077", .name = "QLogic"},
    Vendor{.id = "10de", .name = "NVIDIA"},       Vendor{.id = "10ec", .name = "Realtek"},
    Vendor{.id = "10ee", .name = "Xilinx"},       Vendor{.id = "1234", .name = "QEMU"},
    Vendor{.id = "1414", .name = "Microsoft"},    Vendor{.id = "1425", .name = "Chelsio"},
    Vendor{.id = "14e4", .name = "Broadcom"},     Vendor{.id = "15ad", .name = "VMware"},
    Vendor{.id = "15b3", .name = "Mellanox"},     Vendor{.id = "17cb", .name = "Qualcomm"},
    Vendor{.id = "17db", .name = "Cray"},         Vendor{.id = "19e5", .name = "Huawei"},
    Vendor{.id = "1a03", .name = "ASPEED"},       Vendor{.id = "1ae0", .name = "Google"},
    Vendor{.id = "1af4", .name = "Virtio"},       Vendor{.id = "1b36", .name = "Red Hat"},
    Vendor{.id = "1d0f", .name = "Amazon"},       Vendor{.id = "1da3", .name = "Habana"},
    Vendor{.id = "1dd8", .name = "Pensando"},     Vendor{.id = "1e52", .name = "Tenstorrent"},
    Vendor{.id = "1f0f", .name = "NebulaMatrix"}, Vendor{.id = "8086", .name = "Intel"},
};

struct Hidden {
    std::string_view vendor;
    std::string_view device;
};
// Accelerators whose class says "peripheral": Amazon's Inferentia and Trainium, Google's TPUs (ids as
// the Neuron driver and JAX have them).
constexpr std::array hidden = {
    Hidden{.vendor = "1d0f", .device = "7064"}, Hidden{.vendor = "1d0f", .device = "7164"},
    Hidden{.vendor = "1d0f", .device = "7264"}, Hidden{.vendor = "1d0f", .device = "7364"},
    Hidden{.vendor = "1ae0", .device = "0027"}, Hidden{.vendor = "1ae0", .device = "0056"},
    Hidden{.vendor = "1ae0", .device = "005e"}, Hidden{.vendor = "1ae0", .device = "0062"},
    Hidden{.vendor = "1ae0", .device = "0063"}, Hidden{.vendor = "1ae0", .device = "006f"},
    Hidden{.vendor = "1ae0", .device = "0076"},
};

std::string_view vendor_name(std::string_view id) {
    const auto known = std::ranges::find(vendors, id, &Vendor::id);
    return known == vendors.end() ? std::string_view{} : known->name;
}

/// Class 03 is a display: 0300 can drive a monitor, 0302 and 0380 cannot, as a data-centre GPU. Every
/// NVIDIA one computes; of AMD's and Intel's 0300 many are parts of a desktop processor, and of
/// others' 0380 some are virtual.
std::string_view display_kind(std::string_view subclass, std::string_view vendor) {
    const bool computes =
        vendor == "10de" ||
        (subclass != "00" && (vendor == "1002" || vendor == "8086" || vendor == "1da3"));
    return computes ? "accelerator" : "display";
}

/// `code` is the class, six digits: base class, subclass, interface.
std::string_view kind_of(std::string_view code, std::string_view vendor, std::string_view device) {
    for (const Hidden& known : hidden)
        if (known.vendor == vendor && known.device == device) return "accelerator";
    const auto base = code.substr(0, 2);
    if (base == "12") return "accelerator"; // "processing accelerators"
    if (base == "03") return display_kind(code.substr(2, 2), vendor);
    if (code.starts_with("0207")) return "infiniband";
    if (base == "02") return "network";
    return {};
}

/// "0x10de" -> "10de"; empty when it is not hexadecimal digits of this length.
std::string hexadecimal(std::string text, std::size_t digits) {
    if (text.size() != digits + 2 || !text.starts_with("0x")) return {};
    text.erase(0, 2);
    text = lower(text);
    return text.find_first_not_of("0123456789abcdef") == std::string::npos ? text : std::string{};
}

/// The pci.ids file that many systems have: vendors at the start of a line, their devices below them
/// after a tab.
std::string name_from_ids(std::string_view ids, std::string_view vendor, std::string_view device) {
    bool inside = false;
    while (!ids.empty()) {
        const auto end = std::min(ids.find('\n'), ids.size());
        const std::string_view line = ids.substr(0, end);
        ids.remove_prefix(std::min(end + 1, ids.size()));
        if (line.empty() || line.front() == '#') continue;
        if (line.front() != '\t') {
            if (inside) return {};
            inside = line.starts_with(vendor);
        } else if (inside && line.size() > 5 && line.substr(1, 4) == device) {
            return tidied(trim(line.substr(5)));
        }
    }
    return {};
}

std::string read_ids(const Files& files) {
    // 8 MiB: the file has 1.6 MB.
    constexpr std::size_t limit = std::size_t{8} << 20U;
    for (const char* const path : {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"})
        if (std::string ids = files.text(path, limit); !ids.empty()) return ids;
    return {};
}

std::string name_of(const Files& files, const record::PciDevice& device, std::string_view ids) {
    const std::string_view vendor = vendor_name(device.vendor_id);
    const auto information = files.text(std::filesystem::path{"/proc/driver/nvidia/gpus"} /
                                        device.address / "information");
    // NVIDIA's driver knows best: "Model: NVIDIA H200".
    if (const auto model = value_of(information, "Model", ':'); !model.empty())
        return tidied(model);
    std::string listed = name_from_ids(ids, device.vendor_id, device.device_id);
    if (vendor.empty()) return listed;
    return listed.empty() ? fmt::format("{} device {}", vendor, device.device_id)
                          : fmt::format("{} {}", vendor, listed);
}

std::optional<int> count_of(const std::optional<std::int64_t>& number) {
    constexpr std::int64_t unknown = 255; // as kernels write it; 0 of a virtual device
    if (!number || *number <= 0 || *number >= unknown) return {};
    return static_cast<int>(*number);
}

/// "16.0 GT/s PCIe" is the fourth.
std::optional<int> generation(const Files& files, const std::filesystem::path& file) {
    constexpr std::array<std::string_view, 6> rates{"2.5", "5", "8", "16", "32", "64"};
    auto rate = files.line(file);
    rate.resize(std::min(rate.find(" GT/s"), rate.size()));
    if (rate.ends_with(".0")) rate.resize(rate.size() - 2);
    const auto found = std::ranges::find(rates, rate);
    if (found == rates.end()) return {};
    return static_cast<int>(found - rates.begin()) + 1;
}

/// The configuration space of a device, little endian. Without root only its first 64 bytes can be read.
class Configuration {
public:
    explicit Configuration(std::string bytes) : bytes_{std::move(bytes)} {}

    bool whole() const { return bytes_.size() > extended; }
    /// The lower port of a switch: only there peers can meet below the root.
    bool is_switch_port() const {
        constexpr std::uint32_t pcie = 0x10;
        constexpr std::uint32_t downstream = 6;
        std::size_t at = number(0x34, 1);
        for (int left = 48; left > 0 && at >= 0x40; --left, at = number(at + 1, 1))
            if (number(at, 1) == pcie) return ((number(at + 2, 2) >> 4U) & 0xfU) == downstream;
        return false;
    }
    /// Access control services, requests between peers: PCI Express Base Specification, 7.7.11.
    bool redirects_peers() const {
        constexpr std::uint32_t services = 0x0d;
        constexpr std::uint32_t requests = 1U << 2U;
        std::size_t at = extended;
        for (int left = 960; left > 0 && at >= extended; --left, at = number(at, 4) >> 20U)
            if ((number(at, 4) & 0xffffU) == services) return (number(at + 6, 2) & requests) != 0;
        return false;
    }

private:
    static constexpr std::size_t extended = 0x100;
    std::uint32_t number(std::size_t offset, std::size_t size) const {
        std::uint32_t value = 0;
        if (offset + size > bytes_.size()) return 0;
        for (std::size_t i = 0; i < size; ++i)
            value |= std::uint32_t{static_cast<unsigned char>(bytes_[offset + i])} << (8 * i);
        return value;
    }
    std::string bytes_;
};

/// By the bridges above it, which its folder's real path names.
std::optional<bool> peers_redirected(const Files& files, const std::filesystem::path& bus,
                                     const std::string& address) {
    std::optional<bool> redirected;
    const auto path = files.link_target(bus / address);
    for (const auto part : split(path, '/')) {
        if (part == address || std::ranges::count(part, ':') != 2) continue;
        const Configuration bridge{files.bytes(bus / part / "config", 4096)};
        if (!bridge.whole()) continue;
        redirected =
            redirected.value_or(false) || (bridge.is_switch_port() && bridge.redirects_peers());
    }
    return redirected;
}

record::PciLink link_of(const Files& files, const std::filesystem::path& bus,
                        const record::PciDevice& device) {
    const auto folder = bus / device.address;
    record::PciLink link{.width = count_of(files.number(folder / "current_link_width")),
                         .width_max = count_of(files.number(folder / "max_link_width")),
                         .generation_max = generation(files, folder / "max_link_speed"),
                         .peers_redirected = peers_redirected(files, bus, device.address)};
    if (device.kind == "network" || device.kind == "infiniband")
        link.generation = generation(files, folder / "current_link_speed");
    if (const auto node = files.number(folder / "numa_node"); node && *node >= 0 && *node < 1 << 16)
        link.numa_node = static_cast<int>(*node);
    return link;
}

} // namespace

std::vector<record::PciDevice> read_pci(const Files& files) {
    const std::filesystem::path bus = "/sys/bus/pci/devices";
    std::vector<record::PciDevice> devices;
    for (const std::string& address : files.names(bus)) {
        const auto folder = bus / address;
        record::PciDevice device{.address = address,
                                 .vendor_id = hexadecimal(files.line(folder / "vendor"), 4),
                                 .device_id = hexadecimal(files.line(folder / "device"), 4)};
        device.kind = kind_of(hexadecimal(files.line(folder / "class"), 6), device.vendor_id,
                              device.device_id);
        // A virtual function beside its own physical one is the same device.
        if (device.kind.empty() || device.vendor_id.empty() || files.exists(folder / "physfn"))
            continue;
        device.driver = files.link_name(folder / "driver");
        device.link = link_of(files, bus, device);
        devices.push_back(std::move(device));
    }
    const std::string ids = devices.empty() ? std::string{} : read_ids(files);
    for (record::PciDevice& device : devices) device.name = name_of(files, device, ids);
    return devices;
}

} // namespace assay::machine
