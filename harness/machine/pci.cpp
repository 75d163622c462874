// SPDX-License-Identifier: Apache-2.0
#include "machine/pci.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace assay::machine {
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
