// SPDX-License-Identifier: Apache-2.0
//
// NUMA nodes as the kernel describes them, and memory on a chosen one. The system calls are made
// directly: libnuma would be a library for four of them.

#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::transfer {

/// The kernel's limit on x86-64 and aarch64 (CONFIG_NODES_SHIFT is at most 10).
inline constexpr int most_nodes = 1024;

/// "0-3,8": the numbers of a list in /sys, rising, each once. Empty if the text is not such a list or names more
/// than a few thousand.
std::vector<int> parse_list(std::string_view text);

/// The set of one node, as mbind(2) takes it.
using NodeMask = std::array<unsigned long, most_nodes / (8 * sizeof(unsigned long))>;
NodeMask mask_of(int node);

struct Node {
    int number;
    std::vector<int> cpus;
};
/// Nodes below `folder` (/sys/devices/system/node) in rising order: every one with a list of CPUs, which
/// is empty for a node that has memory alone.
std::vector<Node> read_nodes(const std::string& folder);
/// Numbers of those with memory; every node where the kernel does not say.
std::vector<int> nodes_with_memory(const std::string& folder, std::span<const Node> nodes);

/// Threads by the node they run on: team[i] are the threads on node rows[i].
struct Teams {
    std::vector<int> rows; ///< numbers of the nodes that have a thread
    std::vector<std::vector<std::size_t>> team;
};
/// `cpu_of_thread`: where each thread runs. Threads on a CPU of no node belong to no team.
Teams teams_of(std::span<const Node> nodes, std::span<const int> cpu_of_thread);

/// Pages of [data, data + bytes), not touched yet, will come from this node alone. "" for success, or why
/// not.
std::string bind_to_node(void* data, std::size_t bytes, int node);
/// Bytes of pages of [data, data + bytes) that are not in memory or on another node, looking at one page
/// of every `step` bytes; all where the kernel does not answer.
std::size_t bytes_elsewhere(const void* data, std::size_t bytes, std::size_t step, int node);

} // namespace assay::transfer
