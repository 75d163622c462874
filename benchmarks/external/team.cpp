// SPDX-License-Identifier: Apache-2.0
#include "external/team.hpp"

#include <assay/text.hpp>

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>

namespace assay::external {
namespace {

std::string variable(const char* name) {
    const char* const value =
        std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets any here
    return value == nullptr ? "" : value;
}

} // namespace

Team::Team(int cores, std::string_view hosts, std::string launcher) : cores_{cores} {
    if (!launcher.empty()) launcher_ = std::move(launcher);
    while (!hosts.empty()) {
        const auto end = std::min(hosts.find(','), hosts.size());
        const auto one = hosts.substr(0, end);
        const auto colon = std::min(one.find(':'), one.size());
        // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): NaN and other text give 0
        const int slots = std::atoi(std::string{one.substr(colon)}.erase(0, 1).c_str());
        hosts_.push_back(
            {.name = std::string{one.substr(0, colon)}, .slots = slots > 0 ? slots : cores});
        hosts.remove_prefix(std::min(end + 1, hosts.size()));
    }
}

Team Team::of_environment(int cores) {
    return {cores, variable(hosts_variable), variable(launcher_variable)};
}

int Team::slots() const {
    int sum = hosts_.empty() ? cores_ : 0;
    for (const auto& host : hosts_) sum += host.slots;
    return sum;
}

std::string Team::text(char between) const {
    if (hosts_.empty()) return joined("localhost:", cores_);
    std::string text;
    for (const auto& host : hosts_) {
        if (!text.empty()) text += between;
        text += joined(host.name, ":", host.slots);
    }
    return text;
}

Team Team::in_results() const {
    Team team{*this};
    for (std::size_t i = 0; i < hosts_.size(); ++i) team.hosts_[i].name = joined("node", i);
    return team;
}

Team Team::one_each(std::size_t first, std::size_t count) const {
    Team team{cores_};
    team.launcher_ = launcher_;
    for (std::size_t i = first; i < first + count; ++i)
        team.hosts_.push_back({.name = name(i), .slots = 1});
    return team;
}

Launch Team::launch(int ranks, const std::filesystem::path& folder,
                    const Environment& variables) const {
    if (launcher_ == "srun") return by_srun(ranks, folder); // its environment reaches every rank
    Launch launch{.arguments = {"mpirun", "-np", std::to_string(ranks), "--bind-to", "none"},
                  .environment = {}};
    auto& arguments = launch.arguments;
    if (hosts_.empty()) {
        // No ssh and no batch system; ranks that share cores let each other run.
        arguments.insert(arguments.end(),
                         {"--host", joined("localhost:", ranks), "--oversubscribe", "--mca", "plm",
                          "isolated", "--mca", "mpi_yield_when_idle", "1", "--mca",
                          "btl_vader_single_copy_mechanism", "none"});
    } else {
        arguments.insert(arguments.end(), {"--host", text()});
        for (const auto& [name, value] : variables)
            if (!name.starts_with("OMPI_MCA_")) // those it exports by itself
                arguments.insert(arguments.end(), {"-x", name});
    }
    if (::geteuid() == 0)
        launch.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                              {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
    return launch;
}

/// A step of the allocation, in the order of the hosts, which Slurm takes from a file with a line for each rank.
Launch Team::by_srun(int ranks, const std::filesystem::path& folder) const {
    const auto file = folder / joined("ranks-", hosts_.front().name, "-", ranks);
    std::ofstream lines{file};
    int left = ranks;
    int nodes = 0;
    for (const auto& host : hosts_) {
        if (left > 0) ++nodes;
        for (int slot = 0; slot < host.slots && left > 0; ++slot, --left)
            lines << host.name << '\n';
    }
    return {.arguments = {"srun", "--mpi=pmix", "--distribution=arbitrary", "--overlap",
                          "--cpu-bind=none", "--kill-on-bad-exit=1", "--export=ALL", "--unbuffered",
                          joined("--nodes=", nodes), joined("--ntasks=", ranks)},
            .environment = {{"SLURM_HOSTFILE", file.string()}}};
}

bool is_here(const std::string& host) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (::getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return false;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{list, &::freeaddrinfo};
    // Only an address of this host can be bound to.
    for (const auto* one = list; one != nullptr; one = one->ai_next) {
        const int socket =
            ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        const bool is = socket >= 0 && ::bind(socket, one->ai_addr, one->ai_addrlen) == 0;
        if (socket >= 0) ::close(socket);
        if (is) return true;
    }
    return false;
}

} // namespace assay::external
