// SPDX-License-Identifier: Apache-2.0

#include "collective/nccl_choice.hpp"

namespace assay::collective {
namespace {

template <class Names, class Value>
std::string word(const Names& names, Value value) {
    for (const auto& name : names)
        if (name.value == value) return name.text;
    return {};
}

bool by_switch(NcclAlgorithm algorithm) {
    return algorithm == NcclAlgorithm::nvls || algorithm == NcclAlgorithm::nvls_tree;
}
bool by_network(NcclAlgorithm algorithm) {
    return algorithm == NcclAlgorithm::collnet_direct || algorithm == NcclAlgorithm::collnet_chain;
}

bool is_known(NcclAlgorithm algorithm, Kind kind) {
    switch (algorithm) {
    case NcclAlgorithm::own_choice:
        return true;
    case NcclAlgorithm::ring:
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::collnet_direct:
        return has_algorithms(kind);
    case NcclAlgorithm::pat:
        return kind == Kind::allgather || kind == Kind::reduce_scatter;
    default:
        return kind == Kind::allreduce;
    }
}

std::string conflict_of_hosts(const NcclChoice& choice, int ranks, int hosts) {
    const bool peer = choice.way == Way::nvlink_ring || choice.way == Way::pcie_peer;
    if (hosts > 1 && (peer || choice.way == Way::host_staged))
        return "transport " + word(way_names, choice.way) + " does not reach another host";
    const auto algorithm = word(algorithm_names, choice.algorithm);
    if (hosts == 1 &&
        (choice.algorithm == NcclAlgorithm::nvls_tree || by_network(choice.algorithm)))
        return "algorithm " + algorithm + " is one between hosts";
    if (hosts != ranks && choice.algorithm == NcclAlgorithm::pat)
        return "algorithm pat takes one device of each host";
    return {};
}

/// NCCL's kernels for windows are neither rings nor trees, have protocols of their own, and reach into the memory of
/// all devices.
std::string conflict_of_windows(const NcclChoice& choice) {
    if (choice.algorithm != NcclAlgorithm::own_choice ||
        choice.protocol != NcclProtocol::own_choice || choice.way == Way::nvlink_ring)
        return "for symmetric buffers NCCL has kernels of its own and chooses among them";
    if (choice.way != Way::fastest && choice.way != Way::pcie_peer)
        return "symmetric buffers need peer access, which transport " +
               word(way_names, choice.way) + " turns off";
    return {};
}

} // namespace

std::string conflict(const NcclChoice& choice, Kind kind, int ranks, int hosts) {
    const auto algorithm = word(algorithm_names, choice.algorithm);
    if (!is_known(choice.algorithm, kind))
        return "NCCL has no algorithm " + algorithm + " for this collective";
    if (auto why = conflict_of_hosts(choice, ranks, hosts); !why.empty()) return why;
    if (choice.buffers == Allocation::symmetric)
        if (auto why = conflict_of_windows(choice); !why.empty()) return why;
    if (choice.way == Way::nvlink_ring && choice.algorithm != NcclAlgorithm::own_choice &&
        choice.algorithm != NcclAlgorithm::ring)
        return "transport nvlink_ring is a ring, not algorithm " + algorithm;
    if (choice.way != Way::fastest && by_switch(choice.algorithm))
        return "algorithm " + algorithm + " goes through NVLink's switch, which transport " +
               word(way_names, choice.way) + " turns off";
    const bool any = choice.algorithm == NcclAlgorithm::own_choice ||
                     choice.algorithm == NcclAlgorithm::ring ||
                     choice.algorithm == NcclAlgorithm::tree;
    if (!any && (choice.protocol == NcclProtocol::ll || choice.protocol == NcclProtocol::ll128))
        return "algorithm " + algorithm + " has the protocol simple alone";
    return {};
}

} // namespace assay::collective
