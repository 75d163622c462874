// SPDX-License-Identifier: Apache-2.0
#include "plan/hosts.hpp"

#include "json/words.hpp"
#include "launch/environment.hpp"
#include "launch/slurm.hpp"
#include "process/address.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace assay::harness {
namespace {

constexpr int most_slots = 4096; // of a host; more is a slip of the finger
constexpr std::size_t most_hosts = 65'536;
constexpr std::size_t longest_name = 253;   // of the domain name system
constexpr std::size_t most_named_hosts = 8; // in a message

/// What name services and launchers take. A name that begins with `-` would be an option to them.
bool is_host_name(std::string_view name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-' || c == '_';
    };
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
        return fail(
            fmt::format("{} is no host; it should read name or name:slots", json::show_text(text)));
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

bool is_there(const std::vector<Host>& hosts, const std::string& name) {
    return std::ranges::find(hosts, name, &Host::name) != hosts.end();
}

int cores_of(const record::Machine& machine) {
    return std::max(machine.usable_cores.value_or(1), 1);
}

/// Slots count cores (Slurm has no others), so for ranks that need a device each they are no more than devices. Where this
/// machine has none, nothing is known of the others: one, unless told.
int slots_of(const Host& host, const record::Machine& machine, std::optional<int> devices) {
    if (!devices) return host.slots != 0 ? host.slots : cores_of(machine);
    if (*devices == 0) return std::max(host.slots, 1);
    return host.slots != 0 ? std::min(host.slots, *devices) : *devices;
}

/// One more for each host in turn that has room, until there are enough.
std::vector<int> spread(const std::vector<int>& slots, std::int64_t wanted) {
    std::vector<int> ranks(slots.size(), 0);
    while (wanted > 0)
        for (std::size_t i = 0; i < slots.size() && wanted > 0; ++i)
            if (ranks[i] < slots[i]) {
                ++ranks[i];
                --wanted;
            }
    return ranks;
}

} // namespace

Result<std::vector<Host>> parse_hosts(std::string_view text) {
    std::vector<Host> hosts;
    while (true) {
        const auto comma = text.find(',');
        auto host = host_of(text.substr(0, comma));
        if (!host) return tl::unexpected{host.error()};
        if (is_there(hosts, host->name)) return fail(fmt::format("{} is there twice", host->name));
        hosts.push_back(std::move(*host));
        if (comma == std::string_view::npos) return hosts;
        if (hosts.size() >= most_hosts) return fail("too many hosts");
        text.remove_prefix(comma + 1);
    }
}

Result<std::vector<Host>> parse_hostfile(std::string_view text, std::string_view source) {
    std::vector<Host> hosts;
    std::map<std::string, int> lines; ///< where a host was named
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
            return fail(fmt::format("{}:{}: {} is there twice, first in line {}", source, number,
                                    host->name, known->second));
        if (hosts.size() >= most_hosts) return fail(fmt::format("{}: too many hosts", source));
        hosts.push_back(std::move(*host));
    }
    if (hosts.empty()) return fail(fmt::format("{} names no host", source));
    return hosts;
}

Result<void> check_hosts(const std::vector<Host>& hosts) {
    std::map<std::string, std::string> names; ///< by address
    for (const auto& host : hosts) {
        const auto address = numeric_address(host.name);
        if (!address) return tl::unexpected{address.error()};
        const auto [known, added] = names.emplace(*address, host.name);
        if (!added)
            return fail(fmt::format("{} and {} are one host ({}): name it once", known->second,
                                    host.name, *address));
        if (auto way = own_address_towards(host.name); !way) return tl::unexpected{way.error()};
    }
    return {};
}

Result<std::vector<HostRanks>> share_out(const std::vector<Host>& hosts, bool show_names,
                                         const record::Value& ranks, const record::Machine& machine,
                                         std::optional<int> devices) {
    std::vector<int> slots;
    for (const auto& host : hosts) slots.push_back(slots_of(host, machine, devices));
    std::vector<int> shares = slots;
    if (const auto* number = std::get_if<std::int64_t>(&ranks)) {
        const auto room = std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
        if (*number > room)
            return fail(
                fmt::format("needs {} ranks, the {} hosts take {}", *number, hosts.size(), room),
                Fault::environment);
        shares = spread(slots, *number);
    } else if (const auto* symbol = std::get_if<std::string>(&ranks)) {
        const int sockets = std::max(machine.sockets.value_or(1), 1);
        for (auto& share : shares) {
            if (*symbol == "per_node" || *symbol == "one") share = 1;
            if (*symbol == "per_socket") share = std::min(share, sockets);
        }
    }
    std::vector<HostRanks> result;
    for (std::size_t i = 0; i < hosts.size(); ++i)
        if (shares[i] > 0)
            result.push_back({.name = hosts[i].name,
                              .label = show_names ? hosts[i].name : fmt::format("node{}", i),
                              .ranks = shares[i]});
    return result;
}

namespace {

/// Steps run on nodes of the job alone; Slurm itself would only say that there is no room.
Result<void> check_allocation(const std::vector<Host>& hosts) {
    const auto allocated = hosts_of_allocation();
    if (!allocated) return tl::unexpected{allocated.error()};
    std::vector<std::string> names;
    for (const auto& host : *allocated) names.push_back(host.name);
    for (const auto& host : hosts)
        if (!is_there(*allocated, host.name))
            return fail(fmt::format(
                "{} is not in this Slurm job, which has {}{}", host.name,
                fmt::join(std::span{names}.first(std::min(names.size(), most_named_hosts)), ", "),
                names.size() > most_named_hosts ? ", ..." : ""));
    return {};
}

} // namespace

Result<Job> settle(Job job) {
    if (job.launcher.empty()) job.launcher = "mpirun";
    const bool in_slurm = job.launcher == "srun";
    if (in_slurm && find_variable(own_environment(), "SLURM_JOB_ID") == nullptr)
        return fail("srun starts teams inside a Slurm allocation, and this is none: use sbatch or "
                    "salloc",
                    Fault::environment);
    if (in_slurm && job.hosts.empty()) {
        auto hosts = hosts_of_allocation();
        if (!hosts) return tl::unexpected{hosts.error()};
        job.hosts = std::move(*hosts);
    } else if (in_slurm) {
        if (auto inside = check_allocation(job.hosts); !inside)
            return tl::unexpected{inside.error()};
    }
    if (auto checked = check_hosts(job.hosts); !checked) return tl::unexpected{checked.error()};
    return job;
}

std::optional<RankPlace> place_of(const std::vector<int>& ranks_per_host, int rank) {
    for (std::size_t host = 0; host < ranks_per_host.size(); ++host) {
        if (rank < ranks_per_host[host]) return RankPlace{.host = host, .local_rank = rank};
        rank -= ranks_per_host[host];
    }
    return std::nullopt;
}

std::string rank_words(const std::vector<HostRanks>& hosts, int rank) {
    std::vector<int> counts;
    for (const auto& host : hosts) counts.push_back(host.ranks);
    const auto place = place_of(counts, rank);
    return place ? fmt::format("rank {} on {}", rank, hosts[place->host].label)
                 : fmt::format("rank {}", rank);
}

} // namespace assay::harness
