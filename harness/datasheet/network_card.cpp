// SPDX-License-Identifier: Apache-2.0
#include "datasheet/network_card.hpp"

#include <algorithm>
#include <string_view>

namespace assay::datasheet {
namespace {

/// As sysfs has it: "0x15b3".
std::string_view bare_id(std::string_view id) { return id.starts_with("0x") ? id.substr(2) : id; }

} // namespace

const NetworkCardEntry* find_network_card(const std::vector<NetworkCardEntry>& cards,
                                          const record::PciDevice& device) {
    const auto ids =
        std::string{bare_id(device.vendor_id)} + ':' + std::string{bare_id(device.device_id)};
    const auto found = std::ranges::find_if(cards, [&](const auto& card) {
        return std::ranges::find(card.pci, ids) != card.pci.end();
    });
    return found == cards.end() ? nullptr : &*found;
}

} // namespace assay::datasheet
