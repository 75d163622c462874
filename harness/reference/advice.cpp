// SPDX-License-Identifier: Apache-2.0
#include "reference/advice.hpp"

#include "machine/cpu.hpp"
#include "record/format.hpp"
#include "reference/machine_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace assay::harness {
namespace {

using machine::Finding;
using machine::Severity;
using Findings = std::vector<Finding>;

std::string bytes(std::int64_t amount) { return record::human_bytes(static_cast<double>(amount)); }

void add_limits(const record::Machine& machine, const machine::Files& files, Findings& found) {
    const auto quota = machine::cpu_quota(files);
    const bool is_limited = quota && machine.threads && *quota < *machine.threads;
    if (is_limited)
        found.push_back({"cpu_quota", Severity::caution,
                         fmt::format("a control group limits this process to {:.3g} CPUs", *quota),
                         "all-core values are those of the limit, not of the machine"});
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
                         fmt::format("only {} are free where results go", bytes(*free)),
                         "make room, or choose another folder with --out"});
    const auto used = machine.platform.swap_used_bytes.value_or(0);
    constexpr std::int64_t little = 100; // of memory: the hundredth part of what was idle for long
    if (used > 0 && used >= machine.memory_bytes.value_or(0) / little)
        found.push_back({"swap_used", Severity::caution,
                         fmt::format("{} of memory are in swap", bytes(used)),
                         "end what fills the memory, then `swapoff -a && swapon -a` as root"});
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
        found.push_back({"boost_off", Severity::note, "the processor may not boost its clock",
                         "turbo in the firmware, or `echo 1 > "
                         "/sys/devices/system/cpu/cpufreq/boost` as root, allows it"});
    if (platform.energy_unread == "no_counter")
        found.push_back({"energy_absent", Severity::note,
                         "the kernel shows no energy counter of the processor (RAPL): Arm "
                         "processors and most virtual machines have none",
                         "results have no energy of the host"});
    if (platform.energy_unread == "not_permitted")
        found.push_back({"energy_unread", Severity::note,
                         "only root may read the energy counter of the processor (RAPL)",
                         "`chmod a+r /sys/class/powercap/*/energy_uj` as root lets results have it "
                         "until the next start; not on machines with foreign programs"});
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
                         "neighbours can take time from it; the report shows the steal time of "
                         "each case"});
    if (machine.usable_cores && machine.usable_threads > machine.usable_cores)
        found.push_back({"threads_share_cores", Severity::note,
                         fmt::format("{} hardware threads share {} cores", *machine.usable_threads,
                                     *machine.usable_cores),
                         "threads=all uses one thread per core"});
    if (const auto& flaws = machine.platform.mitigations; !flaws.empty())
        found.push_back({"mitigations", Severity::note,
                         fmt::format("the kernel works around {} flaws of the processor, which "
                                     "slows system calls and small messages",
                                     flaws.size()),
                         "compare only machines with the same ones; `mitigations=off` is for "
                         "machines without foreign programs"});
}

} // namespace

Findings advise(const record::Machine& machine, const machine::Files& files,
                const std::vector<record::ErrorCounter>& counters) {
    auto found = on_errors(counters);
    std::ranges::move(on_hardware(machine), std::back_inserter(found));
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

} // namespace assay::harness
