// SPDX-License-Identifier: Apache-2.0
#include "plan/hosts.hpp"

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace assay::plan {
namespace {

constexpr int most_slots = 4096; // of a host; more is a typing error
constexpr std::size_t most_hosts = 65'536;
constexpr std::size_t longest_name = 253; // of the domain name system

/// Accepted by name services and launchers. A name that begins with `-` would be an option to them.
bool is_host_name(std::string_view name) {
    const auto fits = [](char c) { return is_word(c, "_.-"); };
    return !name.empty() && name.size() <= longest_name && name[0] != '-' &&
           std::ranges::all_of(name, fits);
}

std::optional<int> slots_of(std::string_view text) {
    const auto slots = to_number(text);
    if (!slots || *slots < 1 || *slots > most_slots) return std::nullopt;
    return static_cast<int>(*slots);
}

/// "node1" or "node1:2"
Result<Host> host_of(std::string_view text) {
    const auto colon = text.find(':');
    Host host{.name = std::string{text.substr(0, colon)}};
    if (!is_host_name(host.name))
        return fail(
            fmt::format("invalid host {} (expected NAME or NAME:SLOTS)", json::show_text(text)));
    if (colon == std::string_view::npos) return host;
    const auto slots = slots_of(text.substr(colon + 1));
    if (!slots)
        return fail(fmt::format("{}: invalid number of slots for {} (expected 1 to {})",
                                json::show_text(text), host.name, most_slots));
    host.slots = *slots;
    return host;
}

/// "node1 slots=2"
Result<Host> host_of_line(const std::vector<std::string_view>& words) {
    auto host = host_of(words[0]);
    constexpr std::string_view key = "slots=";
    for (std::size_t i = 1; host && i < words.size(); ++i) {
        const auto slots =
            words[i].starts_with(key) ? slots_of(words[i].substr(key.size())) : std::nullopt;
        if (!slots || host->slots != 0)
            return fail(fmt::format("invalid {} after {} (expected slots=N, N from 1 to {})",
                                    json::show_text(words[i]), host->name, most_slots));
        host->slots = *slots;
    }
    return host;
}

} // namespace

bool is_there(const std::vector<Host>& hosts, const std::string& name) {
    return std::ranges::find(hosts, name, &Host::name) != hosts.end();
}

Result<std::vector<Host>> parse_hosts(std::string_view text) {
    std::vector<Host> hosts;
    std::set<std::string> known;
    while (true) {
        const auto comma = find_outside_brackets(text, ",");
        ASSAY_TRY(const auto names, expand_ranges(text.substr(0, comma), most_hosts));
        for (const auto& name : names) {
            ASSAY_TRY(auto host, host_of(name));
            if (!known.insert(host.name).second)
                return fail(fmt::format("{} is given twice", host.name));
            if (hosts.size() >= most_hosts) return fail("too many hosts");
            hosts.push_back(std::move(host));
        }
        if (comma == text.npos) return hosts;
        text.remove_prefix(comma + 1);
    }
}

Result<std::vector<Host>> parse_hostfile(std::string_view text, std::string_view source) {
    std::vector<Host> hosts;
    std::map<std::string, int> lines; ///< the line that names a host
    int number = 0;
    for (const auto line : split(text, '\n')) {
        ++number;
        const auto parts = words(line.substr(0, line.find('#')));
        if (parts.empty()) continue;
        auto host = host_of_line(parts);
        if (!host) return fail(fmt::format("{}:{}: {}", source, number, host.error().message));
        const auto [known, added] = lines.emplace(host->name, number);
        if (!added)
            return fail(fmt::format("{}:{}: {} is given twice, first in line {}", source, number,
                                    host->name, known->second));
        if (hosts.size() >= most_hosts) return fail(fmt::format("{}: too many hosts", source));
        hosts.push_back(std::move(*host));
    }
    if (hosts.empty()) return fail(fmt::format("{} has no hosts", source));
    return hosts;
}

} // namespace assay::plan
