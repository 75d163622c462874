// SPDX-License-Identifier: Apache-2.0
//
// What makers say of network cards, by the chip that the PCI bus shows.

#pragma once

#include "datasheet/figures.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::datasheet {

struct NetworkCardEntry {
    std::string id;               ///< "nvidia-connectx-7"
    std::string name;             ///< for people: "NVIDIA ConnectX-7"
    std::vector<std::string> pci; ///< vendor and device: "15b3:1021"
    /// Of the fastest port that cards with this chip have, B/s in one direction.
    std::optional<double> port_bandwidth;
    std::optional<int> pcie_generation;
    std::optional<int> pcie_lanes;
    Origins figures;
    Sheet sheet;
};

/// By its ids on the PCI bus; null if there is none.
const NetworkCardEntry* find_network_card(const std::vector<NetworkCardEntry>& cards,
                                          const record::PciDevice& device);

} // namespace assay::datasheet
