// SPDX-License-Identifier: Apache-2.0
#include "machine/binding.hpp"

#include "base/text.hpp"
#include "machine/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

namespace assay::machine {
namespace {

/// A CPU set of any size: the fixed one ends at 1024 CPUs.
class CpuSet {
public:
    explicit CpuSet(const std::vector<int>& cpus)
        : limit_{static_cast<std::size_t>(std::ranges::max(cpus)) + 1},
          bytes_{CPU_ALLOC_SIZE(limit_)}, set_{CPU_ALLOC(limit_)} {
        if (set_ == nullptr) return;
        CPU_ZERO_S(bytes_, set_.get());
        for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes_, set_.get());
    }
    const cpu_set_t* get() const { return set_.get(); }
    std::size_t bytes() const { return bytes_; }

private:
    struct Free {
        void operator()(cpu_set_t* set) const { CPU_FREE(set); }
    };
    std::size_t limit_;
    std::size_t bytes_;
    std::unique_ptr<cpu_set_t, Free> set_;
};

} // namespace

std::vector<int> choose_cpus(const Shape& shape, int threads) {
    std::vector<int> cpus;
    if (threads < 1) return cpus;
    const std::size_t cores = shape.usable.size();
    const auto wanted = static_cast<std::size_t>(threads);
    if (wanted < cores) {
        // Evenly over the cores, and so over sockets, NUMA nodes and caches.
        for (std::size_t i = 0; i < wanted; ++i)
            cpus.push_back(shape.usable[i * cores / wanted].front());
        return cpus;
    }
    for (std::size_t sibling = 0; cpus.size() < wanted; ++sibling) {
        const std::size_t before = cpus.size();
        for (const auto& core : shape.usable)
            if (sibling < core.size() && cpus.size() < wanted) cpus.push_back(core[sibling]);
        if (cpus.size() == before) break; // no hardware threads left
    }
    return cpus;
}

std::vector<int> choose_cpus(int threads, const std::string& near) {
    auto shape = read_shape();
    if (!near.empty()) {
        const auto folder = std::filesystem::path{"/sys/bus/pci/devices"} / near;
        keep_usable(shape, Files{}.line(folder / "local_cpulist"));
    }
    return choose_cpus(shape, threads);
}

Result<void> bind_process(const std::vector<int>& cpus) {
    // 2^16: beyond any machine; keeps a wrong number from becoming a huge set.
    const auto is_cpu = [](int cpu) { return cpu >= 0 && cpu < (1 << 16); };
    if (cpus.empty() || !std::ranges::all_of(cpus, is_cpu))
        return fail(fmt::format(
            "cannot bind to the CPUs '{}': expected a list of CPU numbers such as 0,1,2",
            fmt::join(cpus, ",")));
    const CpuSet set{cpus};
    if (set.get() == nullptr) return fail("cannot bind: out of memory", Fault::environment);
    for (const std::string& thread : Files{}.names("/proc/self/task")) {
        const auto id = to_number(thread);
        if (!id || ::sched_setaffinity(static_cast<pid_t>(*id), set.bytes(), set.get()) == 0)
            continue;
        if (errno == ESRCH) continue; // ended meanwhile
        return fail(fmt::format("cannot bind to the CPUs {}: {}; are they online, and does this "
                                "process's cpuset allow them?",
                                fmt::join(cpus, ","), std::strerror(errno)),
                    Fault::environment);
    }
    return {};
}

} // namespace assay::machine
