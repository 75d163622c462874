// SPDX-License-Identifier: Apache-2.0
//
// Starts the job of peer_allreduce and reads its table.
#include "children.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace assay::peers {
namespace {

/// One line of peer_allreduce.
struct Line {
    std::size_t bytes = 0;
    double ours = 0;
    double bare = 0;
    Ratio ratio;
    Difference added;
};

std::optional<Line> parse(const std::string& text) {
    std::istringstream in{text};
    Line line;
    in >> line.bytes >> line.ours >> line.bare >> line.ratio.value >> line.ratio.low >>
        line.ratio.high >> line.added.value >> line.added.low >> line.added.high >>
        line.ratio.pairs >> line.ratio.repeated >> line.ratio.disturbed;
    return in ? std::optional{line} : std::nullopt;
}

Row row_for(const Line& line) {
    const std::string note =
        fmt::format("ours {:.3f} us, bare {:.3f} us", line.ours * 1e6, line.bare * 1e6);
    constexpr std::size_t small = std::size_t{64} << 10U;
    if (line.bytes >= small)
        return row_of(fmt::format("allreduce {} B, ours / bare MPI loop", line.bytes), line.ratio,
                      0.97, note);
    constexpr double most_added = 50e-9; // seconds
    return {.name = fmt::format("allreduce {} B, added to a bare MPI loop", line.bytes),
            .unit = "s",
            .value = line.added.value,
            .low = line.added.low,
            .high = line.added.high,
            .at_most = most_added,
            .note = note,
            .of = line.ratio};
}

} // namespace

std::vector<Row> compare_allreduce(const Options& options) {
    if (options.threads < 2) throw std::runtime_error{"needs two cores"};
    const std::string program = options.peer("peer_allreduce");
    if (!std::filesystem::exists(program)) throw std::runtime_error{program + " was not built"};
    // Many short turns: small messages drift within milliseconds.
    const std::size_t pairs = options.plan.pairs * 2;
    Spawned job = start_job(options.threads,
                            {"--bind-to", "none", program, options.module("mpi"),
                             std::to_string(pairs), std::to_string(options.plan.turn_seconds)});
    std::vector<Row> rows;
    for (std::string text = job.read_line(); !text.empty(); text = job.read_line())
        if (const auto line = parse(text)) rows.push_back(row_for(*line));
    if (job.wait() != 0) throw std::runtime_error{"mpirun failed"};
    return rows;
}

} // namespace assay::peers
