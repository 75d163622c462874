// SPDX-License-Identifier: Apache-2.0
#include "launch/team.hpp"

#include "base/file.hpp"
#include "process/channel.hpp"
#include "process/process.hpp"
#include "process/scratch.hpp"
#include "process/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace assay::launch {
namespace {

constexpr std::size_t most_nodes = 65'536;
constexpr std::size_t most_named_hosts = 8; // in a message

std::optional<int> take_number(std::string_view& text) {
    int value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || value < 1) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    return value;
}

/// Output of `scontrol show hostnames LIST`: a name per line.
Result<std::string> ask_names(const std::string& list,
                              const std::vector<std::string>& environment) {
    const char* path = process::find_variable(environment, "PATH");
    const auto program =
        process::find_program("scontrol", path == nullptr ? "/usr/bin:/bin" : path);
    if (program.empty())
        return fail("needs scontrol (Debian package slurm-client)", Fault::environment);
    ASSAY_TRY(const auto scratch, process::Scratch::create());
    const auto log = scratch.folder() / "names";
    ASSAY_TRY(auto process,
              process::Process::start({.arguments = {program.string(), "show", "hostnames", list},
                                       .environment = environment,
                                       .log = log}));
    constexpr std::chrono::seconds patience{20};
    const auto& ending = process.wait(patience);
    constexpr std::size_t most = std::size_t{16} << 20U;
    auto text = read_whole(log, most);
    if (!text) return text;
    if (!ending || ending->code != 0 || ending->signal != 0)
        return fail(fmt::format("scontrol does not know the hosts of this allocation: {}",
                                text->substr(0, text->find('\n'))),
                    Fault::environment);
    return text;
}

// --- shares ---------------------------------------------------------------------------------------

int cores_of(const record::Machine& machine) {
    return std::max(machine.usable_cores.value_or(1), 1);
}

/// Slots count cores (Slurm has no others), so for ranks that need a device each they are no more than devices. Where
/// this machine has none, nothing is known of the others: one, unless told.
int slots_of(const plan::Host& host, const record::Machine& machine, std::optional<int> devices) {
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

/// Steps run on nodes of the job alone; Slurm itself would only say that there is no room.
Result<void> check_allocation(const std::vector<plan::Host>& hosts) {
    ASSAY_TRY(const auto allocated, hosts_of_allocation());
    std::vector<std::string> names;
    for (const auto& host : allocated) names.push_back(host.name);
    for (const auto& host : hosts)
        if (!is_there(allocated, host.name))
            return fail(fmt::format(
                "{} is not in this Slurm job (its hosts: {}{})", host.name,
                fmt::join(std::span{names}.first(std::min(names.size(), most_named_hosts)), ", "),
                names.size() > most_named_hosts ? ", ..." : ""));
    return {};
}

} // namespace

std::vector<int> repeated_counts(std::string_view text) {
    std::vector<int> counts;
    while (true) {
        const auto value = take_number(text);
        if (!value) return {};
        int times = 1;
        if (text.starts_with("(x")) {
            text.remove_prefix(2);
            const auto count = take_number(text);
            if (!count || !text.starts_with(')')) return {};
            text.remove_prefix(1);
            times = *count;
        }
        if (counts.size() + static_cast<std::size_t>(times) > most_nodes) return {};
        counts.insert(counts.end(), static_cast<std::size_t>(times), *value);
        if (text.empty()) return counts;
        if (!text.starts_with(',')) return {};
        text.remove_prefix(1);
    }
}

Result<std::vector<plan::Host>> hosts_of_allocation() {
    const auto environment = process::own_environment();
    const char* list = process::find_variable(environment, "SLURM_JOB_NODELIST");
    if (list == nullptr)
        return fail("this Slurm allocation lists no hosts (SLURM_JOB_NODELIST)",
                    Fault::environment);
    ASSAY_TRY(const auto names, ask_names(list, environment));
    auto hosts = plan::parse_hostfile(names, "scontrol");
    if (!hosts) return hosts;
    const char* slots = process::find_variable(environment, "SLURM_TASKS_PER_NODE");
    if (slots == nullptr) slots = process::find_variable(environment, "SLURM_JOB_CPUS_PER_NODE");
    const auto counts = repeated_counts(slots == nullptr ? "" : slots);
    for (std::size_t i = 0; i < hosts->size() && i < counts.size(); ++i)
        (*hosts)[i].slots = counts[i];
    return hosts;
}

Result<void> check_hosts(const std::vector<plan::Host>& hosts) {
    std::map<std::string, std::string> names; ///< by address
    for (const auto& host : hosts) {
        ASSAY_TRY(const auto address, process::numeric_address(host.name));
        const auto [known, added] = names.emplace(address, host.name);
        if (!added)
            return fail(fmt::format("{} and {} are the same host ({}); list it once", known->second,
                                    host.name, address));
        ASSAY_TRY(process::own_address_towards(host.name));
    }
    return {};
}

Result<std::vector<HostRanks>> share_out(const std::vector<plan::Host>& hosts, bool show_names,
                                         const record::Value& ranks, const record::Machine& machine,
                                         std::optional<int> devices) {
    std::vector<int> slots;
    for (const auto& host : hosts) slots.push_back(slots_of(host, machine, devices));
    std::vector<int> shares = slots;
    if (const auto* number = std::get_if<std::int64_t>(&ranks)) {
        const auto room = std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
        if (*number > room)
            return fail(fmt::format("needs {} ranks, but the {} hosts have slots for {}", *number,
                                    hosts.size(), room),
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
                              .ranks = shares[i],
                              .groups = hosts[i].groups});
    return result;
}

Result<plan::Job> settle(plan::Job job) {
    if (job.launcher.empty()) job.launcher = "mpirun";
    const bool in_slurm = job.launcher == "srun";
    if (in_slurm && process::find_variable(process::own_environment(), "SLURM_JOB_ID") == nullptr)
        return fail("--launcher srun needs a Slurm allocation; start assay with sbatch or salloc",
                    Fault::environment);
    if (in_slurm && job.hosts.empty()) {
        ASSAY_TRY(auto hosts, hosts_of_allocation());
        job.hosts = std::move(hosts);
    } else if (in_slurm) {
        ASSAY_TRY(check_allocation(job.hosts));
    }
    ASSAY_TRY(check_hosts(job.hosts));
    return job;
}

std::string host_of(const std::vector<HostRanks>& hosts, int rank) {
    std::vector<int> counts;
    for (const auto& host : hosts) counts.push_back(host.ranks);
    const auto place = process::place_of(counts, rank);
    return place ? hosts[place->host].label : "";
}

std::string rank_words(const std::vector<HostRanks>& hosts, int rank) {
    const auto host = host_of(hosts, rank);
    return fmt::format("rank {}{}{}", rank, host.empty() ? "" : " on ", host);
}

std::string missing_ranks(const std::vector<HostRanks>& hosts, int ranks,
                          const std::vector<int>& here) {
    constexpr int most_named = 8;
    std::string names;
    int missing = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        if (std::ranges::find(here, rank) != here.end()) continue;
        if (++missing <= most_named)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", rank_words(hosts, rank));
    }
    return missing > most_named ? fmt::format("{} and {} more", names, missing - most_named)
                                : names;
}

std::string silent_hosts(const std::vector<HostRanks>& hosts, const std::vector<int>& here) {
    constexpr std::size_t most_asked = 8; // each may take a second
    std::string words;
    std::size_t asked = 0;
    int first = 0;
    for (const auto& host : hosts) {
        const auto is_on_it = [&](int rank) { return rank >= first && rank < first + host.ranks; };
        const bool is_here = std::ranges::any_of(here, is_on_it);
        first += host.ranks;
        if (is_here || asked++ >= most_asked) continue;
        if (!process::does_answer(host.name))
            words += fmt::format("; {} does not answer: is its network up?", host.label);
    }
    return words;
}

} // namespace assay::launch
