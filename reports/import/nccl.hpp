// SPDX-License-Identifier: Apache-2.0
//
// What text and JSON of nccl-tests have in common: a line of results, made into readings.

#pragma once

#include "import/draft.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::report::nccl {

/// Of the whole table a line stands in.
struct Table {
    std::string collective; ///< "all_reduce"
    std::optional<std::int64_t> ranks;
    std::optional<std::uint64_t> iterations;
    record::NamedList settings;
    bool cpu_time = false; ///< times are of the CPU
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

/// "/opt/nccl-tests/build/all_reduce_perf" is "all_reduce"; empty for what is no such program.
std::string collective_of(std::string_view program);
/// 22703 is 2.27.3, as NCCL numbers itself.
std::string version_of(std::int64_t code);

/// Bus bandwidth over algorithm bandwidth, by the collective's Get...Bw in nccl-tests (and its
/// doc/PERFORMANCE.md): what each link has to carry. Nothing where it follows from more than the ranks.
std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks);

void add(const Table& table, const Line& line, const Figures& figures, Draft& draft);

/// The collective of a file that does not say: --name, or the file's own name.
Result<std::string> collective_from(const ImportOptions& options, std::string_view source);

} // namespace assay::report::nccl
