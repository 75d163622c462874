// SPDX-License-Identifier: Apache-2.0
#include "reference/links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace assay::reference {
namespace {

bool is_below(const std::optional<int>& found, const std::optional<int>& most) {
    return found.value_or(0) > 0 && *found < most.value_or(0);
}

class Links {
public:
    Links(const record::Machine& machine, const Hardware* hardware)
        : machine_{machine}, hardware_{hardware} {
        for (const auto& device : machine.devices)
            if (device.mode.empty()) {
                auto& most = most_links_[device.name];
                most = std::max(most, device.nvlinks.value_or(0));
                ++whole_;
            }
    }

    std::vector<LinkFinding> findings() {
        for (const auto& device : machine_.pci) look_at_slot(device);
        for (const auto& device : machine_.devices)
            if (device.mode.empty()) { // parts share the links of their device
                look_at_nvlinks(device);
                look_at_fabric(device);
            }
        look_at_cliques();
        look_at_ports();
        return std::move(found_);
    }

private:
    void look_at_slot(const record::PciDevice& device) {
        const auto& link = device.link;
        const bool is_measured =
            std::ranges::find(machine_.devices, device.address, &record::Device::pci_address) !=
            machine_.devices.end();
        if (is_below(link.width, link.width_max))
            found_.push_back({.fault = LinkFault::lanes,
                              .where = device.address,
                              .found = static_cast<double>(*link.width),
                              .most = static_cast<double>(*link.width_max),
                              .is_measured = is_measured});
        if (is_below(link.generation, link.generation_max))
            found_.push_back({.fault = LinkFault::generation,
                              .where = device.address,
                              .found = static_cast<double>(*link.generation),
                              .most = static_cast<double>(*link.generation_max),
                              .is_measured = is_measured});
    }

    static std::string name_of(const record::Device& device) {
        return fmt::format("{}:{}", device.kind, device.index);
    }
    void add(LinkFault fault, const record::Device& device, int up, int most) {
        found_.push_back({.fault = fault,
                          .where = name_of(device),
                          .found = static_cast<double>(up),
                          .most = static_cast<double>(most),
                          .is_measured = true});
    }

    /// None may be meant: on a guest that was given a device alone, on a board with one device. Some of them never is.
    void look_at_nvlinks(const record::Device& device) {
        const auto* const entry =
            hardware_ == nullptr ? nullptr : find_hardware(*hardware_, device);
        const int all = nvlinks_of(entry);
        const int most = most_links_[device.name];
        const bool is_bare = machine_.virtualization == "none";
        const bool has_others = is_bare && whole_ > 1;
        // Before switches links went from device to device: in a guest, those to the devices of others are down.
        const bool is_pairwise = device.compute_capability.starts_with("6.") ||
                                 device.compute_capability.starts_with("7.");
        if (is_pairwise && !is_bare && device.nvlinks == most) return;
        if (!device.nvlinks) {
            if (most > 0 || (all > 0 && has_others))
                add(LinkFault::nvlinks_unknown, device, 0, std::max(all, most));
        } else if (all > 0) {
            if (*device.nvlinks < all && (*device.nvlinks > 0 || has_others))
                add(LinkFault::nvlinks, device, *device.nvlinks, all);
        } else if (*device.nvlinks > 0 && *device.nvlinks < most) {
            add(LinkFault::nvlinks_differ, device, *device.nvlinks, most);
        }
    }

    /// A device alone needs no fabric: some guests have one that never joins.
    void look_at_fabric(const record::Device& device) {
        const auto& fabric = device.fabric;
        std::vector<std::string> faults;
        if (fabric.status.value_or(0) != 0)
            faults.push_back(fmt::format("error {}", *fabric.status));
        std::vector<std::string> recoveries;
        for (const auto& fault : fabric.health)
            (fault.ends_with("recovery") ? recoveries : faults).push_back(fault);
        const auto say = [&](LinkFault fault, std::string text) {
            found_.push_back({.fault = fault,
                              .where = name_of(device),
                              .is_measured = true,
                              .text = std::move(text)});
        };
        if (!faults.empty())
            say(LinkFault::fabric_degraded, fmt::format("{}", fmt::join(faults, ", ")));
        else if (!recoveries.empty())
            say(LinkFault::fabric_unready, fmt::format("{}", fmt::join(recoveries, ", ")));
        else if (!fabric.state.empty() && fabric.state != "completed" && whole_ > 1)
            say(LinkFault::fabric_unready, fabric.state);
    }

    void look_at_cliques() {
        std::set<int> cliques;
        for (const auto& device : machine_.devices)
            if (device.mode.empty() && device.fabric.clique) cliques.insert(*device.fabric.clique);
        if (cliques.size() > 1)
            found_.push_back({.fault = LinkFault::fabric_unready,
                              .where = "cuda",
                              .text = fmt::format("cliques {}", fmt::join(cliques, ", "))});
    }

    // --- ports ------------------------------------------------------------------------------------

    struct Place {
        std::string_view card;     ///< "0000:05:00"
        std::string_view function; ///< ".1"
    };
    /// One part of a shared device (SR-IOV) stands for the whole.
    static Place place_of(const record::NetworkCard& card) {
        const std::string_view address =
            card.physical_function.empty() ? card.address : card.physical_function;
        const auto dot = std::min(address.rfind('.'), address.size());
        return {.card = address.substr(0, dot), .function = address.substr(dot)};
    }

    /// Ports with the same chip and slot, at the same place of equal cards, are rails of one kind; the second port of a
    /// card, or a port of another network, may be for storage or management.
    using Use =
        std::tuple<std::string, std::string, std::string, std::size_t, std::string, int, int>;

    Use use_of(const record::NetworkCard& card) const {
        const auto chip =
            std::ranges::find(machine_.pci, card.address, &record::PciDevice::address);
        const bool is_listed = chip != machine_.pci.end();
        const auto place = place_of(card);
        std::set<std::string_view> functions;
        for (const auto& other : machine_.platform.network)
            if (const auto [its_card, function] = place_of(other); its_card == place.card)
                functions.insert(function);
        const auto port = card.name.substr(std::min(card.name.find(':'), card.name.size()));
        return {is_listed ? chip->vendor_id + chip->device_id : "",
                card.driver,
                card.link_layer,
                functions.size(),
                std::string{place.function} + port,
                is_listed ? chip->link.width_max.value_or(0) : 0,
                is_listed ? chip->link.generation_max.value_or(0) : 0};
    }

    static bool is_up(const record::NetworkCard& card) {
        return card.state.empty() || card.state == "active" || card.state == "up" ||
               card.state == "unknown";
    }

    void look_at_ports() {
        std::map<Use, std::vector<const record::NetworkCard*>> uses;
        for (const auto& card : machine_.platform.network) {
            if (!is_up(card)) {
                if (!card.link_layer.empty())
                    found_.push_back(
                        {.fault = LinkFault::port_down, .where = card.name, .text = card.state});
            } else if (card.bytes_per_second && !card.address.empty()) {
                uses[use_of(card)].push_back(&card);
            }
        }
        for (const auto& [use, cards] : uses) look_at_rails(cards);
    }

    void look_at_rails(const std::vector<const record::NetworkCard*>& cards) {
        const auto rate = [](const auto* card) { return *card->bytes_per_second; };
        const double most = std::ranges::max(cards | std::views::transform(rate));
        const auto slow = static_cast<std::size_t>(
            std::ranges::count_if(cards, [&](const auto* card) { return rate(card) < most; }));
        const auto fast = cards.size() - slow;
        const auto devices = static_cast<std::size_t>(
            std::ranges::count(machine_.pci, "accelerator", &record::PciDevice::kind));
        // The few are at fault, unless the fast ones are already as many for each device.
        if (slow > fast || (devices > 1 && fast % devices == 0)) return;
        for (const auto* card : cards)
            if (rate(card) < most)
                found_.push_back({.fault = LinkFault::port_slow,
                                  .where = card->name,
                                  .found = rate(card),
                                  .most = most});
    }

    const record::Machine& machine_;
    const Hardware* hardware_;
    std::map<std::string, int> most_links_; ///< that are up, by the name of whole devices
    std::size_t whole_ = 0;
    std::vector<LinkFinding> found_;
};

} // namespace

int nvlinks_of(const HardwareEntry* entry) {
    const bool counts =
        entry != nullptr && !entry->nvlink_bridge && entry->nvlink_bandwidth && entry->nvlink_rate;
    return counts ? static_cast<int>(std::lround(*entry->nvlink_bandwidth / *entry->nvlink_rate))
                  : 0;
}

std::vector<LinkFinding> faults_of_links(const record::Machine& machine, const Hardware* hardware) {
    return Links{machine, hardware}.findings();
}

} // namespace assay::reference
