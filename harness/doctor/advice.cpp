// SPDX-License-Identifier: Apache-2.0
#include "doctor/advice.hpp"

#include "machine/cgroup.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace assay::harness {
namespace {

using Sentence = std::optional<std::string>;

Sentence on_quota(const record::Machine& machine, const machine::Files& files) {
    const auto quota = machine::cpu_quota(files);
    if (!quota || !machine.threads || *quota >= *machine.threads) return std::nullopt;
    return fmt::format("a control group limits this process to {:.3g} CPUs: all-core values are "
                       "those of the limit, not of the machine",
                       *quota);
}

Sentence on_memory_limit(const record::Machine& machine) {
    const auto limit = machine.memory_limit_bytes;
    const auto all = machine.memory_bytes;
    if (!limit || !all || *limit >= *all) return std::nullopt;
    return fmt::format("a control group limits memory to {} of {}",
                       record::human_bytes(static_cast<double>(*limit)),
                       record::human_bytes(static_cast<double>(*all)));
}

Sentence on_governor(const machine::Files& files) {
    const auto governor = files.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (governor.empty() || governor == "performance") return std::nullopt;
    return fmt::format("the frequency governor is \"{}\": `cpupower frequency-set -g performance` "
                       "as root reduces variation",
                       governor);
}

Sentence on_huge_pages(const record::Machine& machine) {
    if (machine.huge_pages != "never") return std::nullopt;
    return "transparent huge pages are off: memory bandwidth is lower than the hardware allows; "
           "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled` as root turns them on";
}

Sentence on_threads(const record::Machine& machine) {
    if (!machine.usable_cores || machine.usable_threads <= machine.usable_cores)
        return std::nullopt;
    return fmt::format("{} hardware threads share {} cores: threads=all uses one thread per core",
                       *machine.usable_threads, *machine.usable_cores);
}

Sentence on_affinity(const record::Machine& machine, const machine::Files& files) {
    // A quota reduces the usable cores too, and has its own advice.
    if (!machine.usable_cores || machine.usable_cores >= machine.cores || on_quota(machine, files))
        return std::nullopt;
    return fmt::format("this process may use {} of {} cores (affinity or cpuset)",
                       *machine.usable_cores, *machine.cores);
}

Sentence on_hypervisor(const record::Machine& machine) {
    if (machine.virtualization.empty() || machine.virtualization == "none") return std::nullopt;
    return fmt::format(
        "this is a virtual machine ({}): neighbours can take time from it; the report "
        "shows the steal time of each case",
        machine.virtualization);
}

} // namespace

std::vector<std::string> advise(const record::Machine& machine, const machine::Files& files) {
    std::vector<std::string> advice;
    for (auto& sentence :
         {on_quota(machine, files), on_memory_limit(machine), on_affinity(machine, files),
          on_governor(files), on_huge_pages(machine), on_hypervisor(machine), on_threads(machine)})
        if (sentence) advice.push_back(*sentence);
    return advice;
}

} // namespace assay::harness
