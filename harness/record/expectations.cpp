// SPDX-License-Identifier: Apache-2.0
#include "record/expectations.hpp"

#include "base/nearest.hpp"
#include "base/quantity.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>

namespace assay::record {
namespace {

struct Fact {
    std::string name;
    std::int64_t found = 0;
    /// What is sold as a size: firmware and kernel keep some of it.
    bool is_nominal = false;
};

/// The devices that the driver reports, so that one that fell off the bus is missed; without a driver,
/// those on the PCI bus. The parts of one device share an address.
std::int64_t devices_of(const Machine& machine) {
    const auto is_accelerator = [](const auto& device) { return device.kind == "accelerator"; };
    if (machine.devices.empty()) return std::ranges::count_if(machine.pci, is_accelerator);
    std::set<std::string_view> addresses;
    for (const auto& device : machine.devices) addresses.insert(device.pci_address);
    return std::ssize(addresses);
}

/// Network cards: the ports and interfaces of one share an address.
std::int64_t cards_of(const Machine& machine) {
    std::set<std::string_view> addresses;
    for (const auto& card : machine.platform.network)
        addresses.insert(card.address.empty() ? card.name : card.address);
    return std::ssize(addresses);
}

std::vector<Fact> facts_of(const Machine& machine) {
    const auto bytes = machine.memory_bytes.value_or(0);
    return {{"cores", machine.usable_cores.value_or(0)},
            {"threads", machine.usable_threads.value_or(0)},
            {"sockets", machine.sockets.value_or(0)},
            {"numa", machine.numa_nodes.value_or(0)},
            {"gpu", devices_of(machine)},
            {"nics", cards_of(machine)},
            {"channels", machine.platform.memory_channels.value_or(0)},
            {"memory", std::min(bytes, machine.memory_limit_bytes.value_or(bytes)), true}};
}

bool meets(const Fact& fact, std::int64_t wanted, bool at_least) {
    constexpr std::int64_t kept = 16; // of a machine of 1 TiB a sixty-fourth, of small ones more
    if (fact.is_nominal && !at_least) return fact.found >= wanted - wanted / kept;
    return at_least ? fact.found >= wanted : fact.found == wanted;
}

} // namespace

Result<std::optional<std::string>> unmet(const Machine& machine, const std::string& text) {
    const auto facts = facts_of(machine);
    const auto equals = std::min(text.find('='), text.size());
    const bool at_least = equals > 0 && text[equals - 1] == '>';
    const auto key = text.substr(0, at_least ? equals - 1 : equals);
    const auto fact = std::ranges::find(facts, key, &Fact::name);
    if (fact == facts.end()) {
        std::vector<std::string> known;
        for (const auto& f : facts) known.push_back(f.name);
        return fail(fmt::format("--expect {}: there is no fact \"{}\"{}", text, key,
                                suggestion(key, known)));
    }
    const auto wanted = parse_integer(text.substr(std::min(equals + 1, text.size())));
    if (!wanted || *wanted < 0)
        return fail(fmt::format("--expect {}: write {}=N or {}>=N, N a whole number, which may end "
                                "in {}",
                                text, key, key, multiples_text));
    if (meets(*fact, *wanted, at_least)) return std::optional<std::string>{};
    return fact->is_nominal ? human_bytes(static_cast<double>(fact->found))
                            : fmt::format("{}={}", key, fact->found);
}

Result<void> check_expectations(const Machine& machine,
                                const std::vector<std::string>& expectations) {
    for (const auto& text : expectations) {
        const auto found = unmet(machine, text);
        if (!found) return tl::unexpected{found.error()};
        if (*found)
            return fail(fmt::format("expected {}, found {}", text, **found), Fault::environment);
    }
    return {};
}

} // namespace assay::record
