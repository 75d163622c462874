// SPDX-License-Identifier: Apache-2.0
//
// The part of a worker's environment that it reads before it connects: written by launch/, read by worker/.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::process {

struct Start {
    std::string socket; ///< the parent's address, or the inherited connection
    std::string token;
    std::vector<int> cpus;       ///< one for each rank of a team, which binds itself
    bool unbound = false;        ///< ranks are not bound at all
    std::int64_t data_limit = 0; ///< bytes the process may allocate; 0: no limit
    std::vector<int> host_ranks; ///< ranks per host; empty: all are on one
    std::string run;             ///< identity of the parent (listing.hpp)
};

/// The connection of a process that inherited one.
inline constexpr int inherited_descriptor = 3;

/// The names of the variables.
inline constexpr std::array start_variables{"ASSAY_SOCKET",     "ASSAY_TOKEN",      "ASSAY_CPUS",
                                            "ASSAY_DATA_LIMIT", "ASSAY_HOST_RANKS", "ASSAY_RUN"};

/// "NAME=value" for every field that is set.
std::vector<std::string> to_variables(const Start& start);
/// The entry of the token: it identifies a process that left its session.
std::string mark_of(const std::string& token);
/// That of the run's identity.
std::string run_entry(const std::string& identity);
/// The start of this process. Not after a second thread has started.
Start own_start();

/// The host of a rank, and its number among the host's ranks.
struct RankPlace {
    std::size_t host = 0;
    int local_rank = 0;
};
std::optional<RankPlace> place_of(const std::vector<int>& ranks_per_host, int rank);

// --- program -------------------------------------------------------------------------------------
// What a process starts from: programs on PATH, and the inherited environment.

/// Environment of this process, as "NAME=value".
std::vector<std::string> own_environment();
/// "NAME" of "NAME=value"
std::string_view variable_name(std::string_view entry);
/// The value of `name` among "NAME=value" entries, or null.
const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

/// A program on PATH; empty if not found.
std::filesystem::path find_program(std::string_view name, std::string_view path);
/// The same on the PATH of this process.
std::filesystem::path find_launcher(std::string_view name);

} // namespace assay::process
