// SPDX-License-Identifier: Apache-2.0
//
// What text and JSON of nccl-tests and rccl-tests have in common: which collective it is, and a line of results, made
// into readings.

#pragma once

#include "import/draft.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::imports::nccl {

/// Of the whole table a line stands in.
struct Table {
    std::string collective;            ///< "all_reduce"
    std::string named_by;              ///< who says so, for messages
    bool rccl = false;                 ///< AMD's library and devices
    std::optional<std::int64_t> ranks; ///< of one communicator
    std::optional<std::uint64_t> iterations;
    record::NamedList settings;
    bool cpu_time = false; ///< times are of the CPU
    // Lines whose bandwidths have digits enough to tell the collective: how many fit it, and the first that does not.
    int fitting = 0;
    std::string misfit;
};

/// One half of a line: out of place or in place.
struct Figures {
    bool in_place = false;
    double microseconds = 0;
    double algorithm_bandwidth = 0; ///< GB/s of 1e9 bytes
    double bus_bandwidth = 0;
    std::optional<double> wrong;   ///< values; nothing where they were not checked
    std::optional<double> fastest; ///< microseconds, of single iterations
    std::optional<double> slowest;
    std::optional<double> p99;
};

struct Line {
    std::int64_t bytes = 0;
    std::string type;
    std::string operation; ///< "sum"; empty or "none" where the collective has none
    std::string root;      ///< "-1" where it has none
    std::string where;
};

/// "/opt/build/all_reduce_perf", "all_reduce_perf_mpi", "AllReduce" and "allreduce" are "all_reduce"; empty for what is
/// exactly none of them.
std::string collective_of(std::string_view program);
/// The one collective that the words of a file's name make: "nccl_allreduce.log".
std::string collective_of_file(std::string_view source);
/// 22703 is 2.27.3, as NCCL numbers itself.
std::string version_of(std::int64_t code);
/// A device's name that only AMD uses.
bool is_amd(std::string_view device);

/// Bus bandwidth over algorithm bandwidth, by the collective's Get...Bw in nccl-tests (and its
/// doc/PERFORMANCE.md): what each link has to carry. Nothing where it follows from more than the ranks.
std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks);

/// Sets the table's collective: what the output says of itself, else --name, else the file's own name. An error where
/// these contradict each other, or none is exactly a collective.
Result<void> choose_collective(Table& table, std::string_view said, const std::string& where,
                               const ImportOptions& options, std::string_view source);
/// Ranks that --parameter ranks=N gives, where the output names none or the list is cut short.
Result<void> complete_ranks(Table& table, const ImportOptions& options, std::string_view source);

void add(Table& table, const Line& line, const Figures& figures, Draft& draft);

/// An error where no line fits the collective and the ranks: one of the two is wrong.
Result<void> check_bandwidths(const Table& table, std::string_view source);

} // namespace assay::imports::nccl
