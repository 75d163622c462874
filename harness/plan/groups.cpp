// SPDX-License-Identifier: Apache-2.0
#include "plan/groups.hpp"

#include "base/text.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

namespace assay::plan {
namespace {

constexpr std::size_t longest_word = 64;
constexpr std::size_t most_kinds = 8; // of a host

/// Part of the name of a setting.
bool is_kind(std::string_view text) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !text.empty() && text.size() <= longest_word && std::ranges::all_of(text, fits);
}
/// "-" stands for none.
bool is_group(std::string_view text) {
    const auto fits = [](char c) { return is_word(c, "_.-"); };
    return !text.empty() && text != "-" && text.size() <= longest_word &&
           std::ranges::all_of(text, fits);
}

std::vector<std::string_view> words_in(std::string_view line) {
    std::vector<std::string_view> words;
    for (auto word : split(line, ' '))
        for (auto part : split(word, '\t')) {
            while (part.ends_with('\r')) part.remove_suffix(1);
            if (!part.empty()) words.push_back(part);
        }
    return words;
}

Result<Group> group_of(std::string_view word) {
    const auto equals = word.find('=');
    if (equals != word.npos && is_kind(word.substr(0, equals)) && is_group(word.substr(equals + 1)))
        return Group{.kind = std::string{word.substr(0, equals)},
                     .name = std::string{word.substr(equals + 1)}};
    return fail(
        fmt::format("invalid {} (expected KIND=NAME, as in switch=leaf1; a kind has a-z, 0-9 "
                    "and _, a name letters, digits, _, . and -, each at most {})",
                    json::show_text(word), longest_word));
}

// The same as in benchmarks/collective/fabric.cpp: pairs that play alone, and seconds of a pass over all of it.
constexpr std::uint64_t most_alone = 128 + 192;
constexpr double seconds_of_pass = 1;

std::uint64_t ranks_of(const PlannedCase& planned, const Job& job) {
    const auto* ranks = record::find(planned.parameters, "ranks");
    if (ranks != nullptr)
        if (const auto* number = std::get_if<std::int64_t>(ranks))
            return static_cast<std::uint64_t>(*number);
    if (ranks == nullptr || record::to_string(*ranks) == "per_node") return job.hosts.size();
    std::uint64_t sum = 0;
    for (const auto& host : job.hosts) sum += static_cast<std::uint64_t>(std::max(host.slots, 1));
    return sum;
}

} // namespace

Result<std::vector<HostGroups>> parse_groups(std::string_view text, std::string_view source) {
    std::map<std::string, std::vector<Group>> found;
    int number = 0;
    const auto wrong = [&](const std::string& what) {
        return fail(fmt::format("{}:{}: {}", source, number, what));
    };
    for (const auto line : split(text, '\n')) {
        ++number;
        const auto words = words_in(line.substr(0, line.find('#')));
        if (words.empty()) continue;
        const auto hosts = parse_hosts(words[0]);
        if (!hosts) return wrong(hosts.error().message);
        if (words.size() < 2)
            return wrong(fmt::format(
                "{} has no group (expected KIND=NAME after it, as in switch=leaf1)", words[0]));
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto group = group_of(words[i]);
            if (!group) return wrong(group.error().message);
            for (const auto& host : *hosts) {
                auto& groups = found[host.name];
                const auto known = std::ranges::find(groups, group->kind, &Group::kind);
                if (known != groups.end())
                    return wrong(fmt::format("{} is in two groups of kind {}: {} and {}", host.name,
                                             group->kind, known->name, group->name));
                if (groups.size() == most_kinds)
                    return wrong(
                        fmt::format("{} has more than {} kinds of groups", host.name, most_kinds));
                groups.push_back(*group);
            }
        }
    }
    std::vector<HostGroups> all;
    for (auto& [host, groups] : found) all.push_back({.host = host, .groups = std::move(groups)});
    if (all.empty()) return fail(fmt::format("{} has no groups", source));
    return all;
}

Result<std::string> group_line(std::string_view text) {
    const auto colon = text.find(':');
    const auto equals = text.find('=', colon == text.npos ? text.size() : colon);
    if (equals == text.npos)
        return fail(
            fmt::format("invalid {} (expected KIND:NAME=HOST,..., as in switch:leaf1=node1,node2)",
                        json::show_text(text)));
    return fmt::format("{} {}={}", text.substr(equals + 1), text.substr(0, colon),
                       text.substr(colon + 1, equals - colon - 1));
}

Result<std::vector<Host>> in_groups(std::vector<Host> hosts,
                                    const std::vector<HostGroups>& groups) {
    if (groups.empty()) return hosts;
    bool any = false;
    for (auto& host : hosts) {
        const auto found = std::ranges::lower_bound(groups, host.name, {}, &HostGroups::host);
        if (found == groups.end() || found->host != host.name) continue;
        host.groups = found->groups;
        std::ranges::sort(host.groups, {}, &Group::kind);
        any = true;
    }
    if (!any)
        return fail(fmt::format("none of the {} hosts is in a group; use the names of --hosts in "
                                "--groups and --group",
                                hosts.size()));
    // Those of a switch before those of anything else, because a switch is the nearest.
    const auto key = [](const Host& host) {
        std::vector<std::tuple<bool, std::string, std::string>> words;
        for (const auto& [kind, name] : host.groups)
            words.emplace_back(kind != "switch", kind, name);
        std::ranges::sort(words);
        return std::pair{host.groups.empty(), words};
    };
    std::ranges::stable_sort(hosts, {}, key);
    return hosts;
}

std::vector<std::string> kinds_of(const std::vector<std::vector<Group>>& groups) {
    std::set<std::string> kinds;
    for (const auto& of_host : groups)
        for (const auto& group : of_host) kinds.insert(group.kind);
    return {kinds.begin(), kinds.end()};
}

std::string words_of_kind(const std::vector<std::vector<Group>>& groups, const std::string& kind) {
    std::string words;
    for (const auto& of_host : groups) {
        const auto found = std::ranges::find(of_host, kind, &Group::kind);
        words += fmt::format("{}{}", words.empty() ? "" : " ",
                             found == of_host.end() ? "-" : found->name);
    }
    return words;
}

std::string fabric_cost(const PlannedCase& planned, const Job& job) {
    if (job.hosts.size() < 2) return {};
    const auto ranks = ranks_of(planned, job);
    const auto* random = record::find(planned.parameters, "random"); // rounds of random partners
    const auto* number = random == nullptr ? nullptr : std::get_if<std::int64_t>(random);
    if (ranks < 2 || number == nullptr) return {};
    const auto all = ranks - 1 + ranks % 2;
    const auto some = static_cast<std::uint64_t>(std::bit_width(ranks - 1) + *number);
    const auto rounds = std::min(all, some);
    const auto pairs = ranks * (ranks - 1) / 2;
    const auto covered = std::min(rounds * (ranks / 2), pairs);
    return fmt::format(
        "{} on {} ranks: {} rounds of {} pairs at once cover {} of {} pairs ({:.3g}%), then up to "
        "{} pairs play alone; a pass over all of it takes {:g} s at most unless the whole network "
        "is slow, and is repeated for {:g} to {:g} s in each replica",
        planned.benchmark->id, ranks, rounds, ranks / 2, covered, pairs,
        100.0 * static_cast<double>(covered) / static_cast<double>(pairs),
        std::min(most_alone, pairs), seconds_of_pass, planned.protocol.min_seconds,
        planned.protocol.budget_seconds);
}

} // namespace assay::plan
