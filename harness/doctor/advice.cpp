// SPDX-License-Identifier: Apache-2.0
#include "doctor/advice.hpp"

#include "doctor/hardware.hpp"
#include "machine/cgroup.hpp"
#include "record/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay::harness {
namespace {

using machine::Finding;
using machine::Severity;
using Found = std::optional<Finding>;

std::string bytes(std::int64_t amount) { return record::human_bytes(static_cast<double>(amount)); }

Found on_quota(const record::Machine& machine, const machine::Files& files) {
    const auto quota = machine::cpu_quota(files);
    if (!quota || !machine.threads || *quota >= *machine.threads) return std::nullopt;
    return Finding{"cpu_quota", Severity::caution,
                   fmt::format("a control group limits this process to {:.3g} CPUs", *quota),
                   "all-core values are those of the limit, not of the machine"};
}

Found on_memory_limit(const record::Machine& machine) {
    const auto limit = machine.memory_limit_bytes;
    const auto all = machine.memory_bytes;
    if (!limit || !all || *limit >= *all) return std::nullopt;
    return Finding{
        "memory_limited", Severity::note,
        fmt::format("a control group limits memory to {} of {}", bytes(*limit), bytes(*all))};
}

Found on_governor(const record::Platform& platform) {
    if (platform.governor.empty() || platform.governor == "performance") return std::nullopt;
    return Finding{"governor", Severity::caution,
                   fmt::format("the frequency governor is \"{}\"", platform.governor),
                   "`cpupower frequency-set -g performance` as root reduces variation"};
}

Found on_boost(const record::Platform& platform) {
    if (platform.boost != false) return std::nullopt;
    return Finding{"boost_off", Severity::note, "the processor may not boost its clock",
                   "turbo in the firmware, or `echo 1 > /sys/devices/system/cpu/cpufreq/boost` as "
                   "root, allows it"};
}

Found on_clock(const record::Platform& platform) {
    if (!platform.clock_limit_hz || !platform.clock_most_hz ||
        *platform.clock_limit_hz >= *platform.clock_most_hz)
        return std::nullopt;
    return Finding{"clock_limited", Severity::caution,
                   fmt::format("a setting limits the clock to {:.2f} of {:.2f} GHz",
                               *platform.clock_limit_hz * 1e-9, *platform.clock_most_hz * 1e-9),
                   fmt::format("`cpupower frequency-set -u {:.0f}MHz` as root lifts it",
                               *platform.clock_most_hz * 1e-6)};
}

Found on_energy(const record::Platform& platform) {
    if (platform.energy_unread == "no_counter")
        return Finding{"energy_absent", Severity::note,
                       "the kernel shows no energy counter of the processor (RAPL): Arm processors "
                       "and most virtual machines have none",
                       "results have no energy of the host"};
    if (platform.energy_unread == "not_permitted")
        return Finding{"energy_unread", Severity::note,
                       "only root may read the energy counter of the processor (RAPL)",
                       "`chmod a+r /sys/class/powercap/*/energy_uj` as root lets results have it "
                       "until the next start; not on machines with foreign programs"};
    return std::nullopt;
}

Found on_huge_pages(const record::Machine& machine) {
    if (machine.huge_pages != "never") return std::nullopt;
    return Finding{
        "huge_pages_off", Severity::caution,
        "transparent huge pages are off: memory bandwidth is lower than the hardware allows",
        "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled` as root turns them on"};
}

Found on_balancing(const record::Machine& machine) {
    if (machine.platform.numa_balancing != true || machine.numa_nodes.value_or(1) < 2)
        return std::nullopt;
    return Finding{"numa_balancing", Severity::note,
                   "the kernel moves memory between NUMA nodes while programs run",
                   "`sysctl kernel.numa_balancing=0` as root reduces variation"};
}

Found on_swap(const record::Machine& machine) {
    const auto used = machine.platform.swap_used_bytes.value_or(0);
    constexpr std::int64_t little = 100; // of memory: the hundredth part of what was idle for long
    if (used <= 0 || used < machine.memory_bytes.value_or(0) / little) return std::nullopt;
    return Finding{"swap_used", Severity::caution,
                   fmt::format("{} of memory are in swap", bytes(used)),
                   "end what fills the memory, then `swapoff -a && swapon -a` as root"};
}

Found on_space(const record::Platform& platform) {
    constexpr std::int64_t enough = std::int64_t{1} << 30U; // some hundred runs
    if (platform.results_free_bytes.value_or(enough) >= enough) return std::nullopt;
    return Finding{
        "results_full", Severity::serious,
        fmt::format("only {} are free where results go", bytes(*platform.results_free_bytes)),
        "make room, or choose another folder with --out"};
}

Found on_mitigations(const record::Platform& platform) {
    if (platform.mitigations.empty()) return std::nullopt;
    return Finding{"mitigations", Severity::note,
                   fmt::format("the kernel works around {} flaws of the processor, which slows "
                               "system calls and small messages",
                               platform.mitigations.size()),
                   "compare only machines with the same ones; `mitigations=off` is for machines "
                   "without foreign programs"};
}

Found on_threads(const record::Machine& machine) {
    if (!machine.usable_cores || machine.usable_threads <= machine.usable_cores)
        return std::nullopt;
    return Finding{"threads_share_cores", Severity::note,
                   fmt::format("{} hardware threads share {} cores", *machine.usable_threads,
                               *machine.usable_cores),
                   "threads=all uses one thread per core"};
}

Found on_affinity(const record::Machine& machine, const machine::Files& files) {
    // A quota reduces the usable cores too, and has its own advice.
    if (!machine.usable_cores || machine.usable_cores >= machine.cores || on_quota(machine, files))
        return std::nullopt;
    return Finding{"few_cores", Severity::caution,
                   fmt::format("this process may use {} of {} cores (affinity or cpuset)",
                               *machine.usable_cores, *machine.cores)};
}

Found on_hypervisor(const record::Machine& machine) {
    if (machine.virtualization.empty() || machine.virtualization == "none") return std::nullopt;
    return Finding{"virtual_machine", Severity::note,
                   fmt::format("this is a virtual machine ({})", machine.virtualization),
                   "neighbours can take time from it; the report shows the steal time of each "
                   "case"};
}

} // namespace

std::vector<Finding> advise(const record::Machine& machine, const machine::Files& files,
                            const std::vector<record::ErrorCounter>& counters) {
    const auto& platform = machine.platform;
    std::vector<Finding> findings = on_errors(counters);
    for (auto& finding : on_hardware(machine)) findings.push_back(std::move(finding));
    for (auto& finding :
         {on_quota(machine, files), on_memory_limit(machine), on_affinity(machine, files),
          on_space(platform), on_swap(machine), on_governor(platform), on_clock(platform),
          on_boost(platform), on_energy(platform), on_huge_pages(machine), on_balancing(machine),
          on_hypervisor(machine), on_threads(machine), on_mitigations(platform)})
        if (finding) findings.push_back(*finding);
    rank(findings);
    return findings;
}

void rank(std::vector<Finding>& findings) {
    std::ranges::stable_sort(findings, std::ranges::greater{}, &Finding::severity);
}

} // namespace assay::harness
