// SPDX-License-Identifier: Apache-2.0
#include "decide/expectations.hpp"

#include "base/file.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "json/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

namespace assay::decide {
namespace {

struct Fact {
    std::string name;
    std::int64_t found = 0;
    /// Sold as a size: firmware and kernel keep some of it.
    bool is_nominal = false;
    bool is_setup = false;
    const char* unit = ""; ///< unless it is a count
};

/// The devices that the driver reports, so that one that fell off the bus is missed; without a driver,
/// those on the PCI bus. The parts of one device share an address.
std::int64_t devices_of(const record::Machine& machine) {
    const auto is_accelerator = [](const auto& device) { return device.kind == "accelerator"; };
    if (machine.devices.empty()) return std::ranges::count_if(machine.pci, is_accelerator);
    std::set<std::string_view> addresses;
    for (const auto& device : machine.devices) addresses.insert(device.pci_address);
    return std::ssize(addresses);
}

/// Network cards: the ports and interfaces of one share an address, its parts name it.
std::int64_t cards_of(const record::Machine& machine) {
    std::set<std::string_view> addresses;
    for (const auto& card : machine.platform.network)
        addresses.insert(!card.physical_function.empty() ? card.physical_function
                         : card.address.empty()          ? card.name
                                                         : card.address);
    return std::ssize(addresses);
}

/// The smallest of the fastest interfaces: those that nodes talk over.
std::int64_t mtu_of(const record::Machine& machine) {
    double fastest = 0;
    for (const auto& card : machine.platform.network)
        if (card.mtu) fastest = std::max(fastest, card.bytes_per_second.value_or(0));
    std::optional<std::int64_t> least;
    for (const auto& card : machine.platform.network)
        if (card.mtu && card.state != "down" && card.bytes_per_second.value_or(0) >= fastest)
            least = std::min(least.value_or(*card.mtu), *card.mtu);
    return least.value_or(0);
}

/// The lowest that a device may have; 0 where one does not say.
template <class Member>
std::int64_t least_of_devices(const record::Machine& machine, Member member) {
    std::optional<double> least;
    for (const auto& device : machine.devices)
        least =
            std::min(least.value_or((device.*member).value_or(0)), (device.*member).value_or(0));
    return std::llround(least.value_or(0));
}

std::vector<Fact> facts_of(const record::Machine& machine) {
    const auto& platform = machine.platform;
    const auto setup = [](const char* name, std::int64_t found, const char* unit) {
        return Fact{.name = name, .found = found, .is_setup = true, .unit = unit};
    };
    const auto bytes = machine.memory_bytes.value_or(0);
    return {{"cores", machine.usable_cores.value_or(0)},
            {"threads", machine.usable_threads.value_or(0)},
            {"sockets", machine.sockets.value_or(0)},
            {"numa", machine.numa_nodes.value_or(0)},
            {"gpu", devices_of(machine)},
            {"nics", cards_of(machine)},
            {"nic", cards_of(machine)},
            setup("mtu", mtu_of(machine), "B"),
            setup("clock", std::llround(platform.clock_limit_hz.value_or(0)), "Hz"),
            setup("gpu_clock", least_of_devices(machine, &record::Device::clock_max_hz), "Hz"),
            setup("gpu_power", least_of_devices(machine, &record::Device::power_limit_watts), "W"),
            {"channels", platform.memory_channels.value_or(0)},
            {"memory", std::min(bytes, machine.memory_limit_bytes.value_or(bytes)), true}};
}

/// A fact in words, or a version; empty if not known.
struct NamedText {
    std::string name;
    std::string found;
    bool is_version = false;
};

std::string ecc_of(const record::Machine& machine) {
    std::set<std::string> states;
    for (const auto& device : machine.devices)
        if (device.ecc) states.insert(*device.ecc ? "on" : "off");
    return fmt::format("{}", fmt::join(states, ", "));
}

std::vector<NamedText> texts_of(const record::Machine& machine) {
    return {{"driver", text(machine.software, "nvidia.driver"), true},
            {"cuda", text(machine.software, "nvidia.cuda"), true},
            {"kernel", machine.kernel, true},
            {"ecc", ecc_of(machine)},
            {"iommu", machine.platform.iommu},
            {"governor", machine.platform.governor}};
}

/// With "=" as far as it is written: 580 is any 580.65.06.
Result<bool> meets(const NamedText& fact, const std::string& wanted, bool at_least,
                   const std::string& text) {
    if (!fact.is_version) {
        if (at_least || wanted.empty())
            return fail(fmt::format("--expect {}: write {}=WORD", text, fact.name));
        return fact.found == wanted;
    }
    const auto least = parse_version(wanted);
    if (!least || wanted.find_first_not_of("0123456789.") != std::string::npos)
        return fail(fmt::format("--expect {}: write {}=VERSION or {}>=VERSION, such as 580.65.06",
                                text, fact.name, fact.name));
    auto found = parse_version(fact.found);
    if (!found) return false;
    if (!at_least && found->size() > least->size()) found->resize(least->size());
    return at_least ? *found >= *least : *found == *least;
}

bool meets(const Fact& fact, std::int64_t wanted, bool at_least) {
    constexpr std::int64_t kept = 16; // of a machine of 1 TiB a sixty-fourth, of small ones more
    if (fact.is_nominal && !at_least) return fact.found >= wanted - wanted / kept;
    return at_least ? fact.found >= wanted : fact.found == wanted;
}

} // namespace

Result<std::optional<std::string>> unmet(const record::Machine& machine, const std::string& text) {
    const auto facts = facts_of(machine);
    const auto equals = std::min(text.find('='), text.size());
    const bool at_least = equals > 0 && text[equals - 1] == '>';
    const auto key = text.substr(0, at_least ? equals - 1 : equals);
    const auto texts = texts_of(machine);
    if (const auto named = std::ranges::find(texts, key, &NamedText::name); named != texts.end()) {
        ASSAY_TRY(const auto met,
                  meets(*named, text.substr(std::min(equals + 1, text.size())), at_least, text));
        if (met) return std::optional<std::string>{};
        return fmt::format("{}={}", key, named->found.empty() ? "not known" : named->found);
    }
    const auto fact = std::ranges::find(facts, key, &Fact::name);
    if (fact == facts.end()) {
        std::vector<std::string> known;
        for (const auto& f : facts) known.push_back(f.name);
        for (const auto& t : texts) known.push_back(t.name);
        return fail(
            fmt::format("--expect {}: unknown fact \"{}\"{}", text, key, suggestion(key, known)));
    }
    const auto wanted = parse_integer(text.substr(std::min(equals + 1, text.size())));
    if (!wanted || *wanted < 0)
        return fail(fmt::format("--expect {}: write {}=N or {}>=N, N a whole number, which may end "
                                "in {}",
                                text, key, key, multiples_text));
    if (meets(*fact, *wanted, at_least)) return std::optional<std::string>{};
    if (fact->is_nominal) return record::human_bytes(static_cast<double>(fact->found));
    const std::string_view unit = fact->unit;
    if (!unit.empty() && fact->found == 0) return fmt::format("{}=not known", key);
    return fmt::format("{}={}", key,
                       unit == "Hz" ? record::human(static_cast<double>(fact->found), unit)
                                    : std::to_string(fact->found));
}

bool is_setup(const std::string& expectation) {
    const auto key = expectation.substr(0, expectation.find_first_of(">="));
    const auto facts = facts_of({});
    const auto texts = texts_of({});
    const auto fact = std::ranges::find(facts, key, &Fact::name);
    return fact == facts.end() ? std::ranges::find(texts, key, &NamedText::name) != texts.end()
                               : fact->is_setup;
}

Result<std::vector<std::string>> read_expectations(const std::string& text) {
    if (text.find('=') != text.npos) return std::vector{text};
    constexpr std::size_t longest_file = 1U << 16U;
    const auto lines = read_text(text, longest_file);
    if (!lines)
        return fail(fmt::format("{} is neither KEY=VALUE nor a file: {}", json::show_text(text),
                                lines.error().message));
    std::vector<std::string> expectations;
    std::istringstream in{*lines};
    for (std::string line; std::getline(in, line);) {
        line.erase(std::min(line.find('#'), line.size()));
        std::erase_if(line, [](unsigned char c) { return std::isspace(c) != 0; });
        if (!line.empty()) expectations.push_back(std::move(line));
    }
    if (expectations.empty())
        return fail(fmt::format("{} has no expectations (expected lines such as gpu=8)",
                                json::show_text(text)));
    return expectations;
}

Result<void> check_expectations(const record::Machine& machine,
                                const std::vector<std::string>& expectations) {
    for (const auto& text : expectations) {
        const auto found = unmet(machine, text);
        if (!found) return tl::unexpected{found.error()};
        if (*found)
            return fail(fmt::format("expected {}, found {}", text, **found), Fault::environment);
    }
    return {};
}

} // namespace assay::decide
