// SPDX-License-Identifier: Apache-2.0
#include "machine/network.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "machine/system.hpp"

#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace assay::machine {
namespace {

namespace fs = std::filesystem;

const fs::path interfaces = "/sys/class/net";
constexpr double bits_per_byte = 8;
/// Larger values are invalid: some kernels show "unknown" as 2^32 - 1.
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

// --- bonds ----------------------------------------------------------------------------------------

/// A server has two or four; the kernel's file holds some 270 names.
constexpr std::size_t most_members = 64;

/// Modes as in linux/Documentation/networking/bonding.rst.
struct BondMode {
    std::string_view name;
    bool streams_add_up; ///< each goes over one member, several over all
    bool packets_add_up; ///< those of one stream go over all
};
constexpr std::array bond_modes{
    BondMode{.name = "balance-rr", .streams_add_up = true, .packets_add_up = true},
    BondMode{.name = "active-backup", .streams_add_up = false, .packets_add_up = false},
    BondMode{.name = "balance-xor", .streams_add_up = true, .packets_add_up = false},
    BondMode{.name = "broadcast", .streams_add_up = false, .packets_add_up = false},
    BondMode{.name = "802.3ad", .streams_add_up = true, .packets_add_up = false},
    BondMode{.name = "balance-tlb", .streams_add_up = true, .packets_add_up = false},
    BondMode{.name = "balance-alb", .streams_add_up = true, .packets_add_up = false},
};

/// Is its link up, and is it in the aggregate that sends (802.3ad)? Missing facts do not exclude it.
bool is_active(const Files& files, const fs::path& bond, std::string_view member) {
    const auto part = interfaces / member / "bonding_slave";
    const auto state = files.line(part / "mii_status");
    if (state == "down" || state == "going back") return false;
    const auto own = files.number(part / "ad_aggregator_id");
    const auto sending = files.number(bond / "ad_aggregator");
    return !own || !sending || *own == *sending;
}

/// Without its rate.
record::Bond read_bond(const Files& files, std::string name) {
    const auto folder = interfaces / name / "bonding";
    record::Bond bond{.name = std::move(name)};
    const auto mode = files.line(folder / "mode"); // "802.3ad 4"
    bond.mode = mode.substr(0, mode.find(' '));
    const auto list = files.text(folder / "slaves");
    for (const auto member : words(list)) {
        if (bond.members.size() == most_members) break;
        // An invalid name leads nowhere, but is not forgotten.
        if (auto one = tidied(member); std::ranges::find(bond.members, one) == bond.members.end())
            bond.members.push_back(std::move(one));
    }
    const auto only = bond.mode == "active-backup" ? files.line(folder / "active_slave") : "";
    for (const auto& member : bond.members)
        if (bond.mode == "active-backup" ? member == only
                                         : !is_name(member) || is_active(files, folder, member))
            bond.active.push_back(member);
    return bond;
}

NetworkRate rate_of_bond(const Files& files, std::string_view name, Streams streams) {
    const auto bond = read_bond(files, std::string{name});
    const auto* const mode = std::ranges::find(bond_modes, bond.mode, &BondMode::name);
    if (mode == bond_modes.end()) return unknown(name, "the mode of this bond is not known");
    if (bond.active.empty()) return unknown(name, "no member of this bond carries data");
    if (bond.members.size() == most_members) return unknown(name, "too many members");
    const bool adds_up =
        mode->packets_add_up || (mode->streams_add_up && streams == Streams::several);
    NetworkRate all;
    for (const auto& member : bond.active) {
        const auto folder = interfaces / member;
        // A bond cannot be a member of one, and is not asked.
        const auto one = !is_name(member) || !files.exists(folder)
                             ? unknown(name, fmt::format("its member {} is not here", member))
                             : rate_of_interface(files, folder, member);
        if (!one.bytes_per_second) return one;
        if (adds_up && all.bytes_per_second) {
            *all.bytes_per_second += *one.bytes_per_second;
            all.source += " + " + one.source;
        } else if (*one.bytes_per_second > all.bytes_per_second.value_or(0)) {
            all = one;
        }
    }
    all.source = fmt::format("{}, {}{}: {}", name, bond.mode,
                             adds_up || bond.active.size() == 1 ? "" : ", one member", all.source);
    return all;
}

// --- drivers --------------------------------------------------------------------------------------

/// Asks the driver of an interface of this machine; `request` begins with the number of a question of ethtool.
bool ask_driver(const std::string& interface, void* request) {
    const Descriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ifreq carrier{};
    if (!socket || interface.size() >= sizeof carrier.ifr_name) return false;
    std::memcpy(carrier.ifr_name, interface.data(), interface.size());
    carrier.ifr_data = static_cast<char*>(request);
    return ::ioctl(socket.get(), SIOCETHTOOL, &carrier) == 0;
}

} // namespace

std::string ask_network_firmware(const std::string& interface) {
    ethtool_drvinfo facts{};
    facts.cmd = ETHTOOL_GDRVINFO;
    if (!ask_driver(interface, &facts)) return {};
    auto version = tidied(
        std::string_view{facts.fw_version, ::strnlen(facts.fw_version, sizeof facts.fw_version)});
    return version == "N/A" ? std::string{} : version;
}

std::map<std::string, std::int64_t> ask_allowances(const std::string& interface) {
    ethtool_drvinfo facts{};
    facts.cmd = ETHTOOL_GDRVINFO;
    constexpr std::uint32_t most = 100'000; // drivers have some thousand with many queues
    if (!ask_driver(interface, &facts) || facts.n_stats == 0 || facts.n_stats > most) return {};
    // Each question begins with its number and how many answers there is room for.
    const std::size_t count = facts.n_stats;
    std::vector<char> names(sizeof(ethtool_gstrings) + count * ETH_GSTRING_LEN);
    const ethtool_gstrings wanted{
        .cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = facts.n_stats};
    std::memcpy(names.data(), &wanted, sizeof wanted);
    std::vector<std::uint64_t> values(1 + count);
    static_assert(sizeof(ethtool_stats) == sizeof(std::uint64_t));
    const ethtool_stats question{.cmd = ETHTOOL_GSTATS, .n_stats = facts.n_stats};
    std::memcpy(values.data(), &question, sizeof question);
    if (!ask_driver(interface, names.data()) || !ask_driver(interface, values.data())) return {};
    std::map<std::string, std::int64_t> found;
    for (std::size_t i = 0; i < count; ++i) {
        const auto* const text = names.data() + sizeof wanted + i * ETH_GSTRING_LEN;
        const std::string_view name{text, ::strnlen(text, ETH_GSTRING_LEN)};
        if (name.ends_with("_allowance_exceeded") && std::in_range<std::int64_t>(values[i + 1]))
            found.emplace(name, static_cast<std::int64_t>(values[i + 1]));
    }
    return found;
}

std::vector<record::Bond> read_bonds(const Files& files) {
    std::vector<record::Bond> bonds;
    for (const auto& name : files.names(interfaces)) {
        if (!files.exists(interfaces / name / "bonding") || bonds.size() == most_members) continue;
        bonds.push_back(read_bond(files, name));
        bonds.back().bytes_per_second =
            rate_of_bond(files, name, Streams::several).bytes_per_second;
    }
    return bonds;
}

std::optional<NetworkRate> network_rate(const Files& files, std::string_view device,
                                        Streams streams) {
    if (!is_name(device)) return {};
    if (const auto folder = interfaces / device; files.exists(folder))
        return files.exists(folder / "bonding") ? rate_of_bond(files, device, streams)
                                                : rate_of_interface(files, folder, device);
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
