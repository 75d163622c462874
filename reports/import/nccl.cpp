// SPDX-License-Identifier: Apache-2.0

#include "import/nccl.hpp"

#include "import/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace assay::report::nccl {
namespace {

constexpr double giga = 1e9;   // nccl-tests divides by 1.0E9
constexpr double micro = 1e-6; // times are in us

constexpr std::array collectives{"all_reduce", "all_gather", "reduce_scatter", "alltoallv",
                                 "alltoall",   "broadcast",  "reduce",         "gather",
                                 "scatter",    "sendrecv",   "hypercube"};

/// Printed with two decimals, of times with three digits or more: half of the last digit of each.
bool agrees(double computed, double printed) {
    constexpr double half_digit = 0.006;
    constexpr double relative = 0.02;
    return std::abs(computed - printed) <= half_digit + relative * std::abs(printed);
}

/// Amounts that make the file's bandwidths out of its time, or the bandwidths themselves.
void add_bandwidths(const Table& table, const Line& line, const Figures& figures, Reading& reading,
                    Draft& draft) {
    const double bytes = static_cast<double>(line.bytes);
    const double algorithm = bytes / (figures.microseconds * micro) / giga;
    const auto known = table.ranks ? bus_factor(table.collective, *table.ranks) : std::nullopt;
    const double factor = known.value_or(0); // 0: not known, or nobody to send to
    const bool follows = agrees(algorithm, figures.algorithm_bandwidth);
    if (follows && bytes > 0)
        reading.work.push_back({"algorithm_bytes", bytes});
    else if (figures.algorithm_bandwidth > 0)
        reading.extra.push_back({"algorithm_bandwidth", figures.algorithm_bandwidth * giga});
    const bool bus_follows =
        known && follows && agrees(figures.algorithm_bandwidth * factor, figures.bus_bandwidth);
    if (bus_follows && bytes > 0 && factor > 0) {
        reading.work.push_back({"bus_bytes", bytes * factor});
    } else if (figures.bus_bandwidth > 0) {
        reading.extra.push_back({"bus_bandwidth", figures.bus_bandwidth * giga});
        if (known && !bus_follows)
            draft.note(fmt::format("{} on {} ranks: bandwidths do not follow from size, time and "
                                   "ranks and are kept as printed",
                                   table.collective, *table.ranks));
    }
    const bool has_bus = record::find(reading.work, "bus_bytes") != nullptr ||
                         record::find(reading.extra, "bus_bandwidth") != nullptr;
    reading.headline = has_bus ? "bus_bandwidth" : "time";
}

} // namespace

std::string collective_of(std::string_view program) {
    const auto slash = program.find_last_of("/\\");
    if (slash != std::string_view::npos) program.remove_prefix(slash + 1);
    // The longest name first: alltoallv before alltoall, reduce_scatter before reduce.
    std::string_view best;
    for (const std::string_view name : collectives)
        if (program.find(name) != std::string_view::npos && name.size() > best.size()) best = name;
    return std::string{best};
}

std::string version_of(std::int64_t code) {
    if (code <= 0) return "";
    // Up to 2.8 the major version stood at the thousands.
    if (code < 10000) return fmt::format("{}.{}.{}", code / 1000, code % 1000 / 100, code % 100);
    return fmt::format("{}.{}.{}", code / 10000, code % 10000 / 100, code % 100);
}

std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks) {
    if (ranks < 1) return std::nullopt;
    const double n = static_cast<double>(ranks);
    if (collective == "all_reduce") return 2 * (n - 1) / n;
    if (collective == "all_gather" || collective == "reduce_scatter" || collective == "alltoall" ||
        collective == "gather" || collective == "scatter")
        return (n - 1) / n;
    if (collective == "broadcast" || collective == "reduce" || collective == "sendrecv") return 1.0;
    return std::nullopt;
}

void add(const Table& table, const Line& line, const Figures& figures, Draft& draft) {
    if (!(figures.microseconds > 0))
        return draft.skip(line.where, fmt::format("{} bytes", line.bytes),
                          fmt::format("its time {} is not positive", figures.microseconds));
    Reading reading{.name = table.collective,
                    .place = "cuda",
                    .library = "nccl",
                    .parameters = {{"bytes", line.bytes}, {"type", line.type}},
                    .settings = table.settings,
                    .seconds = figures.microseconds * micro,
                    .calls = table.iterations,
                    .where = line.where};
    if (!line.operation.empty() && line.operation != "none")
        reading.parameters.push_back({"operation", line.operation});
    if (!line.root.empty() && line.root != "-1") reading.parameters.push_back({"root", line.root});
    reading.parameters.push_back({"in_place", figures.in_place});
    if (table.ranks) reading.parameters.push_back({"ranks", *table.ranks});
    if (table.cpu_time) reading.parameters.push_back({"clock", std::string{"cpu"}});
    add_bandwidths(table, line, figures, reading, draft);
    if (figures.fastest) reading.extra.push_back({"fastest_time", *figures.fastest * micro});
    if (figures.slowest) reading.extra.push_back({"slowest_time", *figures.slowest * micro});
    if (figures.p99) reading.p99 = *figures.p99 * micro;
    if (figures.wrong)
        reading.verification = record::Verification{
            .passed = *figures.wrong == 0,
            .method = "nccl-tests compared every value with what it should be",
            .bound = 0,
            .error = *figures.wrong,
            .detail = *figures.wrong == 0
                          ? ""
                          : fmt::format("nccl-tests counted {} wrong values", *figures.wrong)};
    draft.add(std::move(reading));
}

Result<std::string> collective_from(const ImportOptions& options, std::string_view source) {
    if (!options.name.empty()) return word_of(options.name);
    auto name = collective_of(std::filesystem::path{source}.filename().string());
    if (!name.empty()) return name;
    return fail(
        fmt::format("{}: does not say which collective it measured, as versions of nccl-tests "
                    "before 2.13 do not: say it with --name all_reduce, or import one file "
                    "for each",
                    source));
}

} // namespace assay::report::nccl
