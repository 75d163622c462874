// SPDX-License-Identifier: Apache-2.0
#include "machine/network.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <system_error>

namespace assay::machine {
namespace {

namespace fs = std::filesystem;

constexpr double bits_per_byte = 8;
/// Larger values are no rates: some kernels show "unknown" as 2^32 - 1.
constexpr double most_megabits = 1e7;

NetworkRate unknown(std::string_view device, std::string_view why) {
    return {.bytes_per_second = {},
            .source = fmt::format("the kernel reports no rate for {}: {}", device, why)};
}

/// A printable path component that leads nowhere else.
bool is_name(std::string_view text) {
    return !text.empty() && text.size() < 64 && text != "." && text != ".." &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~' && c != '/'; });
}

/// A purely software device, or a hypervisor's?
bool is_virtual(const Files& files, const fs::path& folder) {
    if (!files.exists(folder / "device")) return true;
    constexpr std::array buses{"virtio", "xen", "vmbus"};
    return std::ranges::find(buses, files.link_name(folder / "device" / "subsystem")) !=
           buses.end();
}

NetworkRate rate_of_interface(const Files& files, const fs::path& folder, std::string_view name) {
    if (is_virtual(files, folder)) return unknown(name, "a virtual device");
    const auto path = folder / "speed";
    const auto megabits = static_cast<double>(files.number(path).value_or(-1));
    if (!(megabits > 0 && megabits <= most_megabits))
        return unknown(name, "its link is down, or its driver does not report a rate");
    return {.bytes_per_second = megabits * 1e6 / bits_per_byte,
            .source = fmt::format("{}: {} Mbit/s", path.string(), megabits)};
}

/// Share of data in the kernel's rate of an InfiniBand port: up to QDR it is the rate of
/// symbols, 10 bits for 8; FDR's 14.0625 GBd with 66 bits for 64 is rounded to 14 (InfiniBand Architecture
/// Specification, volume 2).
double share_of_data(std::string_view speed) {
    if (speed == "SDR)" || speed == "DDR)" || speed == "QDR)") return 8.0 / 10;
    return speed == "FDR)" ? 14.0625 * 64 / 66 / 14 : 1;
}

/// "100 Gb/sec (4X EDR)". Ports of Ethernet (RoCE) call 40 Gbit/s "4X QDR", and carry as much data.
NetworkRate rate_of_port(const Files& files, const fs::path& device, std::string_view port,
                         std::string_view name) {
    if (is_virtual(files, device)) return unknown(name, "a virtual device");
    const auto folder = device / "ports" / port;
    const auto line = files.line(folder / "rate");
    const auto parts = words(line);
    double gigabits = 0;
    if (parts.size() >= 2 && parts[1] == "Gb/sec") {
        const auto* const end = parts[0].data() + parts[0].size();
        const auto [stop, problem] = std::from_chars(parts[0].data(), end, gigabits);
        if (problem != std::errc{} || stop != end) gigabits = 0;
    }
    if (!(gigabits > 0 && gigabits * 1e3 <= most_megabits))
        return unknown(name, "its driver does not report a rate");
    const bool is_infiniband = files.line(folder / "link_layer") == "InfiniBand";
    const double share = is_infiniband ? share_of_data(parts.back()) : 1;
    return {.bytes_per_second = gigabits * share * 1e9 / bits_per_byte,
            .source = fmt::format("{}: {}{}", (folder / "rate").string(), line,
                                  share < 1 ? ", less line coding" : "")};
}

} // namespace

std::optional<NetworkRate> network_rate(const Files& files, std::string_view device) {
    if (!is_name(device)) return {};
    if (const auto folder = fs::path{"/sys/class/net"} / device; files.exists(folder))
        return rate_of_interface(files, folder, device);
    const auto colon = device.find(':');
    if (colon == std::string_view::npos) return {};
    const auto name = device.substr(0, colon);
    const auto port = device.substr(colon + 1);
    if (!is_name(name) || !is_name(port)) return {};
    const auto folder = fs::path{"/sys/class/infiniband"} / name;
    if (!files.exists(folder)) return {};
    return rate_of_port(files, folder, port, device);
}

} // namespace assay::machine
