// SPDX-License-Identifier: Apache-2.0
#include "plan/hosts.hpp"

#include "base/text.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace assay::harness {
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
    int slots = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), slots);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || slots < 1 ||
        slots > most_slots)
        return std::nullopt;
    return slots;
}

/// "node1" or "node1:2"
Result<Host> host_of(std::string_view text) {
    const auto colon = text.find(':');
    Host host{.name = std::string{text.substr(0, colon)}};
    if (!is_host_name(host.name))
        return fail(fmt::format("{} is not a host; it should be name or name:slots",
                                json::show_text(text)));
    if (colon == std::string_view::npos) return host;
    const auto slots = slots_of(text.substr(colon + 1));
    if (!slots)
        return fail(fmt::format("{}: the slots of {} should be a number from 1 to {}",
                                json::show_text(text), host.name, most_slots));
    host.slots = *slots;
    return host;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (true) {
        const auto start = line.find_first_not_of(" \t\r");
        if (start == std::string_view::npos) return words;
        line.remove_prefix(start);
        const auto end = std::min(line.find_first_of(" \t\r"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

/// "node1 slots=2"
Result<Host> host_of_line(const std::vector<std::string_view>& words) {
    auto host = host_of(words[0]);
    constexpr std::string_view key = "slots=";
    for (std::size_t i = 1; host && i < words.size(); ++i) {
        const auto slots =
            words[i].starts_with(key) ? slots_of(words[i].substr(key.size())) : std::nullopt;
        if (!slots || host->slots != 0)
            return fail(fmt::format("{} after {} should be slots=N, N from 1 to {}",
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
    while (true) {
        const auto comma = text.find(',');
        auto host = host_of(text.substr(0, comma));
        if (!host) return tl::unexpected{host.error()};
        if (is_there(hosts, host->name)) return fail(fmt::format("{} is given twice", host->name));
        hosts.push_back(std::move(*host));
        if (comma == std::string_view::npos) return hosts;
        if (hosts.size() >= most_hosts) return fail("too many hosts");
        text.remove_prefix(comma + 1);
    }
}

Result<std::vector<Host>> parse_hostfile(std::string_view text, std::string_view source) {
    std::vector<Host> hosts;
    std::map<std::string, int> lines; ///< the line that names a host
    for (int number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const auto words = words_of(line.substr(0, line.find('#')));
        if (words.empty()) continue;
        auto host = host_of_line(words);
        if (!host) return fail(fmt::format("{}:{}: {}", source, number, host.error().message));
        const auto [known, added] = lines.emplace(host->name, number);
        if (!added)
            return fail(fmt::format("{}:{}: {} is given twice, first in line {}", source, number,
                                    host->name, known->second));
        if (hosts.size() >= most_hosts) return fail(fmt::format("{}: too many hosts", source));
        hosts.push_back(std::move(*host));
    }
    if (hosts.empty()) return fail(fmt::format("{} names no host", source));
    return hosts;
}

} // namespace assay::harness
