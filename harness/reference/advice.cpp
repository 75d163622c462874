// SPDX-License-Identifier: Apache-2.0
#include "reference/advice.hpp"

#include "base/text.hpp"
#include "machine/cpu.hpp"
#include "record/format.hpp"
#include "reference/links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace assay::reference {
namespace {

using record::Finding;
using record::Severity;
using Findings = std::vector<Finding>;

std::string bytes(std::int64_t amount) { return record::human_bytes(static_cast<double>(amount)); }

void add_limits(const record::Machine& machine, const machine::Files& files, Findings& found) {
    const auto quota = machine::cpu_quota(files);
    const bool is_limited = quota && machine.threads && *quota < *machine.threads;
    if (is_limited)
        found.push_back({"cpu_quota", Severity::caution,
                         fmt::format("a control group limits this process to {:.3g} CPUs", *quota),
                         "all-core values show this limit, not the machine"});
    const auto limit = machine.memory_limit_bytes;
    const auto all = machine.memory_bytes;
    if (limit && all && *limit < *all)
        found.push_back(
            {"memory_limited", Severity::note,
             fmt::format("a control group limits memory to {} of {}", bytes(*limit), bytes(*all))});
    // A quota reduces the usable cores too, and has its own advice.
    if (machine.usable_cores && machine.usable_cores < machine.cores && !is_limited)
        found.push_back({"few_cores", Severity::caution,
                         fmt::format("this process may use {} of {} cores (affinity or cpuset)",
                                     *machine.usable_cores, *machine.cores)});
}

void add_space(const record::Machine& machine, Findings& found) {
    constexpr std::int64_t enough = std::int64_t{1} << 30U; // some hundred runs
    const auto free = machine.platform.results_free_bytes;
    if (free && *free < enough)
        found.push_back({"results_full", Severity::serious,
                         fmt::format("only {} free in the folder for results", bytes(*free)),
                         "free space, or choose another folder with --out"});
    const auto used = machine.platform.swap_used_bytes.value_or(0);
    constexpr std::int64_t little = 100; // of memory: the hundredth part of what was idle for long
    if (used > 0 && used >= machine.memory_bytes.value_or(0) / little)
        found.push_back({"swap_used", Severity::caution,
                         fmt::format("{} of memory is in swap", bytes(used)),
                         "stop the programs that fill the memory, then `swapoff -a && swapon -a` "
                         "as root"});
}

void add_clocks(const record::Platform& platform, Findings& found) {
    if (!platform.governor.empty() && platform.governor != "performance")
        found.push_back({"governor", Severity::caution,
                         fmt::format("the frequency governor is \"{}\"", platform.governor),
                         "`cpupower frequency-set -g performance` as root reduces variation"});
    if (platform.clock_limit_hz && platform.clock_limit_hz < platform.clock_most_hz)
        found.push_back(
            {"clock_limited", Severity::caution,
             fmt::format("a setting limits the clock to {:.2f} of {:.2f} GHz",
                         *platform.clock_limit_hz * 1e-9, *platform.clock_most_hz * 1e-9),
             fmt::format("`cpupower frequency-set -u {:.0f}MHz` as root lifts it",
                         *platform.clock_most_hz * 1e-6)});
    if (platform.boost == false)
        found.push_back({"boost_off", Severity::note, "clock boost is off",
                         "to turn it on: turbo in the firmware, or `echo 1 > "
                         "/sys/devices/system/cpu/cpufreq/boost` as root"});
    if (platform.energy_unread == "no_counter")
        found.push_back({"energy_absent", Severity::note,
                         "no energy counter of the processor (RAPL), as on Arm processors and most "
                         "virtual machines",
                         "results have no host energy"});
    if (platform.energy_unread == "not_permitted")
        found.push_back({"energy_unread", Severity::note,
                         "only root may read the energy counter of the processor (RAPL)",
                         "`chmod a+r /sys/class/powercap/*/energy_uj` as root allows it until the "
                         "next boot; avoid it on machines that run untrusted programs"});
}

void add_kernel(const record::Machine& machine, Findings& found) {
    if (machine.huge_pages == "never")
        found.push_back(
            {"huge_pages_off", Severity::caution,
             "transparent huge pages are off: memory bandwidth is lower than the hardware allows",
             "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled` as root turns them on"});
    if (machine.platform.numa_balancing == true && machine.numa_nodes.value_or(1) > 1)
        found.push_back({"numa_balancing", Severity::note,
                         "the kernel moves memory between NUMA nodes while programs run",
                         "`sysctl kernel.numa_balancing=0` as root reduces variation"});
    if (!machine.virtualization.empty() && machine.virtualization != "none")
        found.push_back({"virtual_machine", Severity::note,
                         fmt::format("this is a virtual machine ({})", machine.virtualization),
                         "neighbours can slow it; the report shows the steal time of each case"});
    if (machine.platform.burstable == true)
        found.push_back(
            {"burstable", Severity::caution,
             fmt::format("{} has full CPU speed only while its credits last", machine.instance),
             "measure on an instance type with dedicated CPUs, or after the credits are used up"});
    if (machine.usable_cores && machine.usable_threads > machine.usable_cores)
        found.push_back({"threads_share_cores", Severity::note,
                         fmt::format("{} hardware threads share {} cores", *machine.usable_threads,
                                     *machine.usable_cores),
                         "threads=all uses one thread per core"});
    if (const auto& flaws = machine.platform.mitigations; !flaws.empty())
        found.push_back({"mitigations", Severity::note,
                         fmt::format("the kernel mitigates {} flaw{} of the processor, which slows "
                                     "system calls and small messages",
                                     flaws.size(), flaws.size() == 1 ? "" : "s"),
                         "compare only machines with the same mitigations; boot with "
                         "`mitigations=off` only where no untrusted programs run"});
}

} // namespace

Findings advise(const record::Machine& machine, const machine::Files& files,
                const std::vector<record::ErrorCounter>& counters, const Hardware* hardware) {
    auto found = on_errors(counters);
    std::ranges::move(on_hardware(machine, hardware), std::back_inserter(found));
    add_limits(machine, files, found);
    add_space(machine, found);
    add_clocks(machine.platform, found);
    add_kernel(machine, found);
    rank(found);
    return found;
}

void rank(std::vector<Finding>& findings) {
    std::ranges::stable_sort(findings, std::ranges::greater{}, &Finding::severity);
}

// --- machine parts -------------------------------------------------------------------------------

namespace {

using record::Finding;
using record::Severity;
using Findings = std::vector<Finding>;

bool is_network(const record::PciDevice& device) {
    return device.kind == "network" || device.kind == "infiniband";
}
bool does_peer_to_peer(const record::PciDevice& device) {
    return device.kind == "accelerator" || device.kind == "infiniband";
}

// --- links ----------------------------------------------------------------------------------------

std::string name_of(const record::PciDevice& device) {
    return device.name.empty() ? device.address
                               : fmt::format("{} ({})", device.address, device.name);
}

struct LinkAdvice {
    std::string_view code;
    Severity severity;
    std::string what;
    std::string_view action;
};

LinkAdvice advice_on(const LinkFinding& link) {
    switch (link.fault) {
    case LinkFault::lanes:
        return {"link_narrow", link.is_measured ? Severity::serious : Severity::caution,
                fmt::format("its PCIe link has {} of {} lanes", link.found, link.most),
                "reseat it, or use a slot with all lanes"};
    case LinkFault::generation:
        return {"link_slow", Severity::caution,
                fmt::format("its PCIe link runs at generation {} of {}", link.found, link.most),
                "check the slot and the firmware settings"};
    case LinkFault::nvlinks:
        return {"nvlink_missing", Severity::serious,
                fmt::format("{} of {} NVLinks are up", link.found, link.most),
                "`nvidia-smi nvlink -s` lists them; reset the device, then check fabric manager "
                "and baseboard"};
    case LinkFault::nvlinks_differ:
        return {"nvlink_missing", Severity::caution,
                fmt::format("{} NVLinks are up, another device of this kind has {}", link.found,
                            link.most),
                "`nvidia-smi nvlink -s` lists them; compare its bridges with those of the other "
                "devices"};
    case LinkFault::nvlinks_unknown:
        return {"nvlink_unknown", Severity::note, "the driver does not say how many NVLinks are up",
                "`nvidia-smi nvlink -s` as root may show them"};
    case LinkFault::fabric_unready:
        return {"fabric_unready", Severity::serious,
                fmt::format("its NVLink fabric is not ready ({})", link.text),
                "`systemctl restart nvidia-fabricmanager` as root, then `nvidia-smi -q` shows "
                "its state"};
    case LinkFault::fabric_degraded:
        return {"fabric_degraded", Severity::serious,
                fmt::format("its NVLink fabric is degraded ({})", link.text),
                "reset the device, then check the fabric manager's log, switches and cables"};
    case LinkFault::port_slow:
        return {"port_slow", Severity::caution,
                fmt::format("its link has {:.0f} Gbit/s, similar ports have {:.0f}",
                            link.found * 8e-9, link.most * 8e-9),
                "check cable, transceiver and switch port"};
    case LinkFault::port_down:
        break;
    }
    return {"port_down", Severity::note, fmt::format("the port is \"{}\"", link.text),
            "if it should be in use, check cable and switch"};
}

void add_links(const record::Machine& machine, const Hardware* hardware, Findings& found) {
    for (const auto& link : faults_of_links(machine, hardware)) {
        const auto device = std::ranges::find(machine.pci, link.where, &record::PciDevice::address);
        auto [code, severity, what, action] = advice_on(link);
        found.push_back({std::string{code}, severity, std::move(what), std::string{action},
                         device == machine.pci.end() ? link.where : name_of(*device)});
    }
    if (machine.numa_nodes.value_or(1) == 1) return;
    for (const auto& device : machine.pci)
        if (!device.link.numa_node && (is_network(device) || does_peer_to_peer(device)))
            found.push_back(
                {"node_unknown", Severity::note, "the firmware does not state its NUMA node",
                 "update the firmware; without it, work may run on the far node", name_of(device)});
}

/// RDMA over Ethernet sends packets as large as the MTU of its interface allows.
void add_mtu(const record::Platform& platform, Findings& found) {
    for (const auto& card : platform.network) {
        constexpr double fast = 25e9 / 8;
        constexpr std::int64_t jumbo = 4200; // holds a packet of 4096 bytes over RoCE
        const bool carries_rdma =
            std::ranges::any_of(platform.network, [&](const record::NetworkCard& other) {
                return other.link_layer == "Ethernet" && other.address == card.address;
            });
        if (card.mtu && *card.mtu < jumbo && carries_rdma &&
            card.bytes_per_second.value_or(0) >= fast)
            found.push_back(
                {"mtu_small", Severity::caution,
                 fmt::format("its MTU is {}: RDMA over it sends packets of 1024 bytes", *card.mtu),
                 fmt::format("`ip link set {} mtu 9000` as root, if switches allow it", card.name),
                 card.name});
    }
}

void add_bonds(const record::Platform& platform, Findings& found) {
    for (const auto& bond : platform.bonds) {
        const bool has_spares = bond.mode == "active-backup" && !bond.active.empty();
        if (has_spares || bond.active.size() >= bond.members.size()) continue;
        found.push_back(
            {"bond_degraded", Severity::caution,
             fmt::format("{} of its {} members carry data", bond.active.size(),
                         bond.members.size()),
             fmt::format("`cat /proc/net/bonding/{}` lists the others: check their links "
                         "and the link aggregation of the switch",
                         bond.name),
             bond.name});
    }
}

// --- memory and mapping ---------------------------------------------------------------------------

void add_memory(const record::Platform& platform, Findings& found) {
    if (const auto& nodes = platform.memoryless_nodes; !nodes.empty())
        found.push_back(
            {"node_memoryless", Severity::caution,
             fmt::format("NUMA node{} {} {} CPUs and no memory", nodes.size() == 1 ? "" : "s",
                         fmt::join(nodes, ", "), nodes.size() == 1 ? "has" : "have"),
             "fill the memory channels near these CPUs, or choose fewer NUMA nodes per "
             "socket in the firmware"});
    if (platform.memory_channels && platform.memory_channels_most &&
        *platform.memory_channels < *platform.memory_channels_most)
        found.push_back({"channels_empty", Severity::caution,
                         fmt::format("only {} of {} memory channels have a module",
                                     *platform.memory_channels, *platform.memory_channels_most),
                         "empty channels limit bandwidth: fill them"});
    for (const auto& modules : platform.memory_modules)
        if (modules.transfers_per_second && modules.transfers_per_second_most &&
            *modules.transfers_per_second < *modules.transfers_per_second_most)
            found.push_back({"memory_slow", Severity::note,
                             fmt::format("memory modules for {:.0f} MT/s run at {:.0f}",
                                         *modules.transfers_per_second_most * 1e-6,
                                         *modules.transfers_per_second * 1e-6),
                             "normal if two modules share a channel; if not, check the firmware "
                             "settings"});
    if (platform.memory_unread == "not_permitted")
        found.push_back({"memory_unread", Severity::note,
                         "memory modules and channels are unknown: only root may read them",
                         "run `sudo assay doctor`"});
}

void add_mapping(const record::Machine& machine, Findings& found) {
    const auto peers = std::ranges::count_if(machine.pci, does_peer_to_peer);
    if (peers == 0) return;
    if (contains(machine.platform.iommu, "DMA"))
        found.push_back({"iommu_translates", Severity::note,
                         "the IOMMU translates every transfer of devices",
                         "boot with `iommu=pt` to pass trusted devices through"});
    const auto redirected = std::ranges::count_if(machine.pci, [](const auto& device) {
        return does_peer_to_peer(device) && device.link.peers_redirected.value_or(false);
    });
    if (redirected > 1)
        found.push_back(
            {"peers_redirected", Severity::caution,
             fmt::format("ACS of PCIe switches sends transfers between {} devices through the root",
                         redirected),
             "turn ACS off in the firmware, unless the machine hosts untrusted guests"});
}

// --- errors ---------------------------------------------------------------------------------------

struct XidKind {
    std::int64_t number;
    Severity severity;
    std::string_view action;
};
constexpr std::string_view defect = "reset the device; if the error returns, replace it";
constexpr std::string_view remap = "reset the device when it is idle to replace the memory row";
constexpr std::string_view firmware = "reset the device; if the error returns, update the driver";
constexpr std::string_view program = "usually caused by a program, not the device";
// Kinds from NVIDIA's catalogue of Xid errors (docs.nvidia.com/deploy/xid-errors).
constexpr std::array xids{
    XidKind{13, Severity::note, program},
    XidKind{31, Severity::note, program},
    XidKind{43, Severity::note, program},
    XidKind{45, Severity::note, program},
    XidKind{48, Severity::serious, defect},
    XidKind{61, Severity::serious, firmware},
    XidKind{62, Severity::serious, firmware},
    XidKind{63, Severity::caution, remap},
    XidKind{64, Severity::serious, defect},
    XidKind{74, Severity::serious, "check NVLink: bridges, baseboard and fabric manager"},
    XidKind{79, Severity::serious,
            "it fell off the bus: power-cycle the machine; check slot, power and temperature"},
    XidKind{92, Severity::caution, defect},
    XidKind{94, Severity::caution, remap},
    XidKind{95, Severity::serious, defect},
    XidKind{119, Severity::serious, firmware},
    XidKind{120, Severity::serious, firmware},
    XidKind{140, Severity::serious, defect},
};

Finding on_xid(const record::ErrorCounter& counter, std::int64_t count) {
    const auto number = to_number(std::string_view{counter.counter}.substr(4)).value_or(0);
    const auto* const known = std::ranges::find(xids, number, &XidKind::number);
    const bool is_known = known != xids.end();
    return {
        "xid", is_known ? known->severity : Severity::caution,
        fmt::format("the driver logged Xid {} ({} time{})", number, count, count == 1 ? "" : "s"),
        std::string{is_known ? known->action : "see docs.nvidia.com/deploy/xid-errors"},
        counter.device};
}

struct ErrorKind {
    std::string_view source;
    std::string_view counter; ///< begins so
    std::string_view code;
    Severity severity;
    std::string_view what;
    std::string_view action;
};
constexpr std::array error_kinds{
    ErrorKind{"edac", "ue_", "memory_uncorrected", Severity::serious,
              "uncorrectable errors of memory", "replace the module that `edac-util -v` names"},
    ErrorKind{"edac", "ce_", "memory_corrected", Severity::note, "corrected errors of memory",
              "watch the count: a module whose errors grow every day fails soon"},
    ErrorKind{"pcie", "correctable", "pcie_corrected", Severity::note, "corrected PCIe errors",
              "if they increase under load, check slot and riser"},
    ErrorKind{"pcie", "", "pcie_uncorrected", Severity::serious, "uncorrected PCIe errors",
              "check slot, riser and power, then try another slot"},
    ErrorKind{"infiniband", "", "port_errors", Severity::caution, "errors of the port",
              "if they increase, clean or replace cable and transceiver"},
    ErrorKind{"network", "rx_errors", "interface_errors", Severity::note, "errors of the interface",
              "if they increase, check cable and transceiver"},
    ErrorKind{"network", "tx_errors", "interface_errors", Severity::note, "errors of the interface",
              "if they increase, check cable and transceiver"},
    ErrorKind{"allowance", "", "allowance_exceeded", Severity::note,
              "packets queued or dropped beyond the allowance of this instance type",
              "if they increase under load, choose a type with more network bandwidth"},
    ErrorKind{"nvlink", "", "nvlink_errors", Severity::caution, "NVLink errors",
              "if they increase under load, reset the device and check the baseboard"},
};

} // namespace

Findings on_hardware(const record::Machine& machine, const Hardware* hardware) {
    Findings found;
    add_links(machine, hardware, found);
    add_mtu(machine.platform, found);
    add_bonds(machine.platform, found);
    add_memory(machine.platform, found);
    add_mapping(machine, found);
    return found;
}

Findings on_errors(const std::vector<record::ErrorCounter>& counters) {
    Findings found;
    std::map<std::pair<std::string, std::string_view>, std::int64_t> sums; // by device and code
    for (const auto& counter : counters) {
        const auto count = counter.after.value_or(counter.before.value_or(0));
        if (count <= 0) continue;
        if (counter.source == "driver" && counter.counter.starts_with("xid_")) {
            found.push_back(on_xid(counter, count));
            continue;
        }
        for (const auto& kind : error_kinds) {
            if (kind.source != counter.source || !counter.counter.starts_with(kind.counter))
                continue;
            auto& sum = sums[{counter.device, kind.code}];
            const bool is_first = sum == 0;
            sum += count;
            if (is_first)
                found.push_back({std::string{kind.code}, kind.severity, std::string{kind.what},
                                 std::string{kind.action}, counter.device});
            break;
        }
    }
    for (auto& finding : found)
        if (const auto sum = sums.find({finding.where, finding.code}); sum != sums.end())
            finding.what = fmt::format("{} {} since boot", sum->second, finding.what);
    return found;
}

} // namespace assay::reference
