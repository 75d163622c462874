// SPDX-License-Identifier: Apache-2.0
//
// The rows and columns of a matrix over NUMA nodes: nodes whose cores this process uses, and nodes with
// memory. They differ where a node has cores or memory alone.

#pragma once

#include "memory/chase.hpp"
#include "nodes.hpp"

#include <sched.h>

namespace assay::transfer {

inline constexpr const char* node_folder = "/sys/devices/system/node";

/// The threads that read, and the nodes they read from.
struct Places {
    Teams teams;
    std::vector<int> columns; ///< nodes with memory

    explicit Places(int threads) {
        std::vector<int> cpus(static_cast<std::size_t>(threads));
        on_each_thread(threads,
                       [&](std::size_t thread, std::size_t) { cpus[thread] = ::sched_getcpu(); });
        const std::vector<Node> nodes = read_nodes(node_folder);
        teams = teams_of(nodes, cpus);
        columns = nodes_with_memory(node_folder, nodes);
        if (teams.rows.empty() || columns.empty())
            throw std::runtime_error{std::string{"cannot tell nodes and their CPUs from "} +
                                     node_folder};
    }
    std::size_t cells() const { return teams.rows.size() * columns.size(); }
    Table table(const char* metric, std::vector<double> values) const {
        const auto labels = [](const std::vector<int>& nodes) {
            std::vector<std::string> texts;
            for (const int node : nodes) texts.push_back(std::to_string(node));
            return texts;
        };
        return {metric,          "cores of node",  "memory of node", labels(teams.rows),
                labels(columns), std::move(values)};
    }
    void describe(const Context& context) const {
        context.setting("nodes_with_cores", teams.rows.size());
        context.setting("nodes_with_memory", columns.size());
    }
};

/// Its pages will come from this node alone; throws where the system does not allow that.
inline void place_on(memory::Memory& memory, int node) {
    if (const std::string why = bind_to_node(memory.data(), memory.size(), node); !why.empty())
        throw std::runtime_error{why};
}

/// Are there several nodes, may we choose between them, and is there room?
inline Fit fits_nodes(std::int64_t bytes, memory::Pages pages, const Machine& m) {
    if (const std::int64_t nodes = m.count("numa.nodes"); nodes < 2)
        return Fit::no("not applicable: needs several NUMA nodes, this machine has ",
                       std::max<std::int64_t>(nodes, 1));
    memory::Memory probe{huge_page, memory::Pages::small};
    const std::vector<Node> nodes = read_nodes(node_folder);
    const std::vector<int> with = nodes_with_memory(node_folder, nodes);
    if (with.empty()) return Fit::no(std::string{"not applicable: no nodes in "} + node_folder);
    if (std::string why = bind_to_node(probe.data(), probe.size(), with.front()); !why.empty())
        return Fit::no("not applicable: " + why);
    return memory::fits_memory(bytes, pages, m);
}

} // namespace assay::transfer
