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
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// What a bracket holds: a list of numbers and ranges of them.
struct Bracket {
    std::size_t begin = 0; ///< of `[`
    std::size_t end = 0;   ///< behind `]`
};

/// The first bracket, if any; "node[1-3" and "node]" are nothing.
Result<std::optional<Bracket>> bracket_of(std::string_view text) {
    const auto begin = text.find_first_of("[]");
    if (begin == text.npos) return std::optional<Bracket>{};
    const auto end = text.find_first_of("[]", begin + 1);
    if (text[begin] != '[' || end == text.npos || text[end] != ']')
        return fail(fmt::format("{}: a bracket is open; it should be as in node[01-40]",
                                json::show_text(text)));
    return Bracket{begin, end + 1};
}

std::optional<int> plain_number(std::string_view text) {
    int value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
    return whole && value >= 0 ? std::optional{value} : std::nullopt;
}

/// "01-03" makes 01, 02, 03: numbers have at least as many digits as the first one was written with, as in Slurm,
/// ClusterShell and pdsh.
Result<void> add_range(std::string_view range, std::vector<std::string>& numbers) {
    const auto dash = range.find('-');
    const auto first = range.substr(0, dash);
    const auto last = dash == range.npos ? first : range.substr(dash + 1);
    const auto low = plain_number(first);
    const auto high = plain_number(last);
    if (!low || !high || *high < *low)
        return fail(fmt::format("{}: a range of hosts should be two rising numbers, as in "
                                "node[01-40], or a list, as in node[1-3,7]",
                                json::show_text(range)));
    if (static_cast<std::size_t>(*high - *low) >= most_hosts) return fail("too many hosts");
    for (int i = *low; i <= *high; ++i) numbers.push_back(fmt::format("{:0{}}", i, first.size()));
    return {};
}

/// "node[1-2]:4" makes "node1:4", "node2:4"; several brackets make all combinations, the last one changing first.
Result<std::vector<std::string>> expanded(std::string_view text) {
    std::vector<std::string> made{""};
    while (true) {
        const auto bracket = bracket_of(text);
        if (!bracket) return tl::unexpected{bracket.error()};
        const auto before = text.substr(0, *bracket ? (*bracket)->begin : text.npos);
        for (auto& name : made) name += before;
        if (!*bracket) return made;
        std::vector<std::string> numbers;
        auto inside = text.substr((*bracket)->begin + 1, (*bracket)->end - (*bracket)->begin - 2);
        while (true) {
            const auto comma = inside.find(',');
            if (auto done = add_range(inside.substr(0, comma), numbers); !done)
                return tl::unexpected{done.error()};
            if (comma == inside.npos) break;
            inside.remove_prefix(comma + 1);
        }
        if (made.size() * numbers.size() > most_hosts) return fail("too many hosts");
        std::vector<std::string> more;
        for (const auto& name : made)
            for (const auto& number : numbers) more.push_back(name + number);
        made = std::move(more);
        text.remove_prefix((*bracket)->end);
    }
}

/// The comma that ends the first host: none within brackets.
std::size_t end_of_host(std::string_view text) {
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == ']') inside = text[i] == '[';
        if (text[i] == ',' && !inside) return i;
    }
    return text.npos;
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
    std::set<std::string> known;
    while (true) {
        const auto comma = end_of_host(text);
        const auto names = expanded(text.substr(0, comma));
        if (!names) return tl::unexpected{names.error()};
        for (const auto& name : *names) {
            auto host = host_of(name);
            if (!host) return tl::unexpected{host.error()};
            if (!known.insert(host->name).second)
                return fail(fmt::format("{} is given twice", host->name));
            if (hosts.size() >= most_hosts) return fail("too many hosts");
            hosts.push_back(std::move(*host));
        }
        if (comma == text.npos) return hosts;
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
