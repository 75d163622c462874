// SPDX-License-Identifier: Apache-2.0
#include "machine/topology.hpp"

#include "machine/files.hpp"

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>

namespace assay::machine {
namespace {

struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

struct Free {
    void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, Free>;

/// A topology without devices: they cost time, and the PCI bus is read elsewhere.
Topology load(const std::string& synthetic) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return nullptr;
    Topology topology{raw};
    if (!synthetic.empty() && hwloc_topology_set_synthetic(raw, synthetic.c_str()) != 0)
        return nullptr;
    hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    // The whole machine; what we may use is asked for separately.
    hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(raw) != 0) return nullptr;
    return topology;
}

/// Cgroup cpuset and affinity together.
Bitmap usable_here(hwloc_topology_t topology) {
    Bitmap usable{hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology))};
    const Bitmap bound{hwloc_bitmap_alloc()};
    if (usable && bound && hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) == 0 &&
        hwloc_bitmap_intersects(usable.get(), bound.get()) != 0)
        hwloc_bitmap_and(usable.get(), usable.get(), bound.get());
    return usable;
}

std::vector<int> cpus_of(hwloc_const_bitmap_t bitmap) {
    std::vector<int> cpus;
    for (int cpu = hwloc_bitmap_next(bitmap, -1); cpu >= 0; cpu = hwloc_bitmap_next(bitmap, cpu))
        cpus.push_back(cpu);
    return cpus;
}

int count(hwloc_topology_t topology, hwloc_obj_type_t type) {
    return std::max(0, hwloc_get_nbobjs_by_type(topology, type));
}

/// HBM and the memory of some accelerators are NUMA nodes beside the one that has the processors.
std::vector<std::vector<int>> numa_places(hwloc_topology_t topology) {
    std::vector<std::vector<int>> places;
    for (int i = 0; i < count(topology, HWLOC_OBJ_NUMANODE); ++i) {
        const auto* const node =
            hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
        auto cpus = cpus_of(node->cpuset);
        if (!cpus.empty() && std::ranges::find(places, cpus) == places.end())
            places.push_back(std::move(cpus));
    }
    return places;
}

std::vector<std::vector<int>> cpus_of_each(hwloc_topology_t topology, hwloc_obj_type_t type) {
    std::vector<std::vector<int>> sets;
    for (int i = 0; i < count(topology, type); ++i)
        sets.push_back(
            cpus_of(hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i))->cpuset));
    return sets;
}

void collect_cores(hwloc_topology_t topology, hwloc_const_bitmap_t usable, Shape& shape) {
    // Some virtual machines do not say what a core is.
    const auto type = count(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    shape.cores = count(topology, type);
    const Bitmap mine{hwloc_bitmap_alloc()};
    for (int i = 0; i < shape.cores; ++i) {
        const auto* const core = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
        hwloc_bitmap_and(mine.get(), core->cpuset, usable);
        if (hwloc_bitmap_iszero(mine.get()) == 0) shape.usable.push_back(cpus_of(mine.get()));
    }
}

std::string_view cache_type(hwloc_obj_cache_type_t type) {
    switch (type) {
    case HWLOC_OBJ_CACHE_DATA:
        return "data";
    case HWLOC_OBJ_CACHE_INSTRUCTION:
        return "instruction";
    case HWLOC_OBJ_CACHE_UNIFIED:
        break;
    }
    return "unified";
}

void add_cache(const hwloc_obj* found, std::vector<record::Cache>& caches) {
    const auto& facts = found->attr->cache;
    record::Cache cache{.level = static_cast<int>(facts.depth),
                        .type = std::string{cache_type(facts.type)},
                        .bytes = static_cast<std::int64_t>(facts.size),
                        .count = 1,
                        .line_bytes = static_cast<int>(facts.linesize)};
    if (cache.bytes <= 0) return; // unknown: as if it were not there
    for (record::Cache& known : caches)
        if (known.level == cache.level && known.type == cache.type && known.bytes == cache.bytes &&
            known.line_bytes == cache.line_bytes) {
            ++known.count;
            return;
        }
    caches.push_back(std::move(cache));
}

void collect_caches(hwloc_topology_t topology, hwloc_const_bitmap_t usable, Shape& shape) {
    constexpr std::array types = {HWLOC_OBJ_L1CACHE,  HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE,
                                  HWLOC_OBJ_L2ICACHE, HWLOC_OBJ_L3CACHE,  HWLOC_OBJ_L4CACHE,
                                  HWLOC_OBJ_L5CACHE};
    for (const auto type : types)
        for (int i = 0; i < count(topology, type); ++i) {
            const auto* const cache =
                hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
            if (hwloc_bitmap_intersects(cache->cpuset, usable) != 0) add_cache(cache, shape.caches);
        }
}

Shape describe(hwloc_topology_t topology, hwloc_const_bitmap_t usable) {
    Shape shape;
    shape.threads = count(topology, HWLOC_OBJ_PU);
    shape.sockets = std::max(1, count(topology, HWLOC_OBJ_PACKAGE));
    shape.socket_cpus = cpus_of_each(topology, HWLOC_OBJ_PACKAGE);
    shape.numa_cpus = numa_places(topology);
    shape.numa_nodes = static_cast<int>(shape.numa_cpus.size());
    collect_cores(topology, usable, shape);
    collect_caches(topology, usable, shape);
    return shape;
}

/// When hwloc finds nothing: the CPUs we may run on, each taken for a core.
Shape bare_shape() {
    Shape shape;
    shape.threads = static_cast<int>(std::max(0L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &set)) shape.usable.push_back({cpu});
    return shape;
}

bool touches(const std::vector<std::vector<int>>& cores, const std::vector<int>& cpus) {
    return std::ranges::any_of(cores, [&](const auto& core) {
        return std::ranges::find_first_of(core, cpus) != core.end();
    });
}

/// With these cores alone.
Shape share_with(const Shape& shape, std::vector<std::vector<int>> cores) {
    auto share = shape;
    const auto count_in = [&](const std::vector<std::vector<int>>& sets) {
        return static_cast<int>(
            std::ranges::count_if(sets, [&](const auto& cpus) { return touches(cores, cpus); }));
    };
    share.sockets = std::max(1, count_in(shape.socket_cpus));
    share.numa_nodes = std::max(1, count_in(shape.numa_cpus));
    share.usable = std::move(cores);
    return share;
}

} // namespace

std::vector<Shape> shares_of(const Shape& shape, const std::vector<std::vector<int>>& cpu_sets) {
    std::vector<Shape> shares;
    for (const auto& cpus : cpu_sets) {
        std::vector<std::vector<int>> cores;
        std::ranges::copy_if(shape.usable, std::back_inserter(cores), [&](const auto& core) {
            return std::ranges::find_first_of(core, cpus) != core.end();
        });
        if (!cores.empty()) shares.push_back(share_with(shape, std::move(cores)));
    }
    return shares;
}

std::vector<Shape> even_shares(const Shape& shape, std::size_t count) {
    const auto cores = shape.usable.size();
    count = std::min(count, cores);
    std::vector<Shape> shares;
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = [&](std::size_t part) {
            return shape.usable.begin() + static_cast<std::ptrdiff_t>(part * cores / count);
        };
        shares.push_back(share_with(shape, {at(i), at(i + 1)}));
    }
    return shares;
}

Shape read_shape() {
    const Topology topology = load({});
    if (!topology) return bare_shape();
    const Bitmap usable = usable_here(topology.get());
    return usable ? describe(topology.get(), usable.get()) : bare_shape();
}

void keep_usable(Shape& shape, const std::string& cpu_list) {
    const Bitmap near{hwloc_bitmap_alloc()};
    if (cpu_list.empty() || hwloc_bitmap_list_sscanf(near.get(), cpu_list.c_str()) != 0) return;
    const auto is_near = [&](const std::vector<int>& core) {
        return std::ranges::any_of(core, [&](int cpu) {
            return cpu >= 0 && hwloc_bitmap_isset(near.get(), static_cast<unsigned>(cpu)) != 0;
        });
    };
    if (std::ranges::none_of(shape.usable, is_near)) return;
    std::erase_if(shape.usable, [&](const auto& core) { return !is_near(core); });
}

Shape described_shape(const std::string& synthetic, const std::optional<std::vector<int>>& usable) {
    const Topology topology = load(synthetic);
    const Bitmap set{hwloc_bitmap_alloc()};
    if (!topology || !set || synthetic.empty()) return {};
    if (usable) {
        for (const int cpu : *usable)
            if (cpu >= 0) hwloc_bitmap_set(set.get(), static_cast<unsigned>(cpu));
    } else {
        hwloc_bitmap_copy(set.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
    }
    return describe(topology.get(), set.get());
}

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

} // namespace assay::machine
