// SPDX-License-Identifier: Apache-2.0
//
// The shape of the machine: sockets, cores, hardware threads, caches, NUMA, and which of them this
// process may use, as plain data, so that its users are tested with machines we do not have; and the CPUs of a
// case. The parent chooses them once for all workers, so that every replica uses the same ones.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::machine {

struct Shape {
    int sockets = 0; ///< of the whole machine, like cores and threads; 0: not known
    int cores = 0;
    int threads = 0;
    int numa_nodes = 0; ///< places with processors; memory without any is not counted
    /// Logical CPUs of each physical core that this process may use, in topology order.
    std::vector<std::vector<int>> usable;
    std::vector<std::vector<int>> socket_cpus; ///< logical CPUs of each, usable or not
    std::vector<std::vector<int>> numa_cpus;
    std::vector<record::Cache> caches; ///< those that a usable core sits on
};

/// This machine, as hwloc sees it. Affinity and cgroup cpuset limit the usable part.
Shape read_shape();

/// The usable part of each of these sets of CPUs; nothing for a set without any.
std::vector<Shape> shares_of(const Shape& shape, const std::vector<std::vector<int>>& cpu_sets);
/// The usable part, in so many parts that differ by one core at most; fewer where there are fewer cores.
std::vector<Shape> even_shares(const Shape& shape, std::size_t count);

/// Keeps of what may be used the cores that have a CPU in this list ("0-15,32-47"); all of them where none
/// would be left, or where the list cannot be read.
void keep_usable(Shape& shape, const std::string& cpu_list);

/// A machine in hwloc's synthetic language: "pack:2 numa:1 l3:1 core:8 pu:2". `usable` restricts what
/// may be used to these logical CPUs.
Shape described_shape(const std::string& synthetic,
                      const std::optional<std::vector<int>>& usable = std::nullopt);

/// Logical CPUs to bind `threads` threads to: one per physical core first, spread over what this
/// process may use, in topology order; second hardware threads only when cores run out. Fewer than
/// requested if there are not enough; empty for threads < 1.
/// `near`: the address of a PCI device; if the kernel knows the CPUs local to it, only those.
std::vector<int> choose_cpus(int threads, const std::string& near = {});
std::vector<int> choose_cpus(const Shape& shape, int threads);

} // namespace assay::machine
