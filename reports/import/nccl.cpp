// SPDX-License-Identifier: Apache-2.0

#include "import/nccl.hpp"

#include "import/lines.hpp"
#include "json/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

namespace assay::imports::nccl {
namespace {

constexpr double giga = 1e9;   // nccl-tests divides by 1.0E9
constexpr double micro = 1e-6; // times are in us

/// Without underscores and capitals, as people write them, and as nccl-tests calls its programs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> collectives{
    {{"allreduce", "all_reduce"},
     {"allgather", "all_gather"},
     {"reducescatter", "reduce_scatter"},
     {"alltoall", "alltoall"},
     {"alltoallv", "alltoallv"},
     {"broadcast", "broadcast"},
     {"reduce", "reduce"},
     {"gather", "gather"},
     {"scatter", "scatter"},
     {"sendrecv", "sendrecv"},
     {"hypercube", "hypercube"}}};

std::vector<std::string_view> names() {
    std::vector<std::string_view> all;
    for (const auto& [spelling, name] : collectives) all.push_back(name);
    return all;
}

std::string exactly(std::string_view text) {
    auto word = word_of(text);
    std::erase(word, '_');
    const auto found = std::ranges::find(collectives, word, [](const auto& c) { return c.first; });
    return found == collectives.end() ? "" : std::string{found->second};
}

/// Printed with two decimals, of times with three digits or more: half of the last digit of each.
bool agrees(double computed, double printed) {
    constexpr double half_digit = 0.006;
    constexpr double relative = 0.02;
    return std::abs(computed - printed) <= half_digit + relative * std::abs(printed);
}

/// Share of size / time that nccl-tests calls the algorithm bandwidth.
double algorithm_share(std::string_view collective, std::optional<std::int64_t> ranks) {
    if (collective != "hypercube" || !ranks) return 1;
    const auto n = static_cast<double>(*ranks);
    return (n - 1) / n; // it does not count what a rank sends to itself
}

struct Range {
    double low;
    double high;
    bool holds(double value) const { return value >= low && value <= high; }
};
/// Of bus bandwidth over algorithm bandwidth, as far as the printed digits tell it; nothing where they do not.
std::optional<Range> printed_factor(const Figures& figures) {
    const auto around = [](double printed) {
        const double margin =
            std::max(0.0051, 0.0006 * printed); // half a digit of two decimals, or of four digits
        return Range{printed - margin, printed + margin};
    };
    const auto algorithm = around(figures.algorithm_bandwidth);
    const auto bus = around(figures.bus_bandwidth);
    constexpr double narrow = 1.1;
    if (algorithm.low <= 0 || bus.low <= 0) return std::nullopt;
    const Range factor{bus.low / algorithm.high, bus.high / algorithm.low};
    return factor.high / factor.low < narrow ? std::optional{factor} : std::nullopt;
}

/// Before NCCL 2.7 these two programs printed the bus bandwidth in both columns.
bool is_printed_twice(const Table& table, double factor, double whole, const Figures& figures) {
    return (table.collective == "all_gather" || table.collective == "reduce_scatter") &&
           figures.algorithm_bandwidth == figures.bus_bandwidth &&
           agrees(whole * factor, figures.bus_bandwidth);
}

void compare_factor(Table& table, const Line& line, const Figures& figures) {
    const auto expected = bus_factor(table.collective, *table.ranks);
    const auto printed = printed_factor(figures);
    if (!expected || *expected <= 0 || !printed) return;
    if (printed->holds(*expected)) {
        ++table.fitting;
        return;
    }
    if (!table.misfit.empty()) return;
    std::vector<std::string_view> others;
    for (const auto name : names())
        if (const auto factor = bus_factor(name, *table.ranks); factor && printed->holds(*factor))
            others.push_back(name);
    table.misfit = fmt::format(
        "{}: busbw {} over algbw {} is {:.3g}, but {} ({}) on {} ranks makes {:.3g}{}; --name and "
        "--parameter ranks=N say what it is",
        line.where, figures.bus_bandwidth, figures.algorithm_bandwidth,
        figures.bus_bandwidth / figures.algorithm_bandwidth, table.collective, table.named_by,
        *table.ranks, *expected,
        others.empty() ? "" : fmt::format("; {} would fit", fmt::join(others, ", ")));
}

/// Amounts that make the file's bandwidths out of its time, or the bandwidths themselves.
void add_bandwidths(Table& table, const Line& line, const Figures& figures, Reading& reading,
                    Draft& draft) {
    const double bytes =
        static_cast<double>(line.bytes) * algorithm_share(table.collective, table.ranks);
    const double algorithm = bytes / (figures.microseconds * micro) / giga;
    const auto known = table.ranks ? bus_factor(table.collective, *table.ranks) : std::nullopt;
    const double factor = known.value_or(0); // 0: not known, or nobody to send to
    const bool twice = known && is_printed_twice(table, factor, algorithm, figures);
    if (twice)
        draft.note("this version of nccl-tests printed the bus bandwidth as the algorithm "
                   "bandwidth; here that is size over time, as later versions print it");
    else if (known)
        compare_factor(table, line, figures);
    const bool follows = twice || agrees(algorithm, figures.algorithm_bandwidth);
    if (follows && bytes > 0)
        reading.work.push_back({"algorithm_bytes", bytes});
    else if (figures.algorithm_bandwidth > 0)
        reading.extra.push_back({"algorithm_bandwidth", figures.algorithm_bandwidth * giga});
    const bool bus_follows =
        known && follows &&
        (twice || agrees(figures.algorithm_bandwidth * factor, figures.bus_bandwidth));
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
    // "_mpi" and other suffixes of a build follow.
    return exactly(program.substr(0, program.find("_perf")));
}

std::string collective_of_file(std::string_view source) {
    const auto stem = word_of(std::filesystem::path{source}.filename().string());
    const auto words = split(stem, "_");
    constexpr std::size_t longest = 3; // words: all_to_all
    std::string found;
    for (std::size_t i = 0; i < words.size();) {
        std::size_t taken = 0;
        for (std::size_t count = std::min(longest, words.size() - i); count > 0 && taken == 0;
             --count) {
            const auto name = exactly(fmt::format(
                "{}", fmt::join(words.begin() + static_cast<std::ptrdiff_t>(i),
                                words.begin() + static_cast<std::ptrdiff_t>(i + count), "_")));
            if (name.empty()) continue;
            if (!found.empty() && found != name) return ""; // "reduce and gather.log"
            found = name;
            taken = count;
        }
        i += std::max<std::size_t>(taken, 1);
    }
    return found;
}

std::string version_of(std::int64_t code) {
    if (code <= 0) return "";
    // Up to 2.8 the major version stood at the thousands.
    if (code < 10000) return fmt::format("{}.{}.{}", code / 1000, code % 1000 / 100, code % 100);
    return fmt::format("{}.{}.{}", code / 10000, code % 10000 / 100, code % 100);
}

bool is_amd(std::string_view device) {
    static constexpr std::array marks{"AMD ", "Radeon", "gfx"};
    return std::ranges::any_of(
        marks, [&](const char* mark) { return device.find(mark) != std::string_view::npos; });
}

std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks) {
    if (ranks < 1) return std::nullopt;
    const auto n = static_cast<double>(ranks);
    if (collective == "all_reduce") return 2 * (n - 1) / n;
    if (collective == "all_gather" || collective == "reduce_scatter" || collective == "alltoall" ||
        collective == "gather" || collective == "scatter")
        return (n - 1) / n;
    if (collective == "broadcast" || collective == "reduce" || collective == "sendrecv" ||
        collective == "hypercube")
        return 1.0;
    return std::nullopt;
}

Result<void> choose_collective(Table& table, std::string_view said, const std::string& where,
                               const ImportOptions& options, std::string_view source) {
    const auto known = fmt::format("known are {}", fmt::join(names(), ", "));
    const auto given = exactly(options.name);
    if (!options.name.empty() && given.empty())
        return fail(fmt::format("--name {}: is no collective of nccl-tests; {}",
                                json::show_text(options.name), known));
    const auto program = said.empty() ? "" : collective_of(said);
    if (!said.empty() && program.empty() && given.empty())
        return fail(fmt::format(
            "{}: {}: {} is no collective of nccl-tests; say with --name what it measures; {}",
            source, where, json::show_text(said), known));
    if (!program.empty() && !given.empty() && program != given)
        return fail(fmt::format("{}: {}: the output is of {}, but --name says {}: leave --name out",
                                source, where, program, given));
    table.collective = program;
    table.named_by = "as the output says";
    if (table.collective.empty()) {
        table.collective = given;
        table.named_by = "by --name";
    }
    if (table.collective.empty()) {
        table.collective = collective_of_file(source);
        table.named_by = "by the file's name";
    }
    if (!table.collective.empty()) return {};
    return fail(fmt::format("{}: {}: does not say which collective it measured, as versions of "
                            "nccl-tests before 2.17 do not: say it with --name all_reduce, or "
                            "import one file for each; {}",
                            source, where, known));
}

Result<void> complete_ranks(Table& table, const ImportOptions& options, std::string_view source) {
    const auto given = record::number(options.parameters, "ranks");
    constexpr double most = 1e9;
    if (!given || !(*given >= 1 && *given < most)) return {};
    const auto ranks = static_cast<std::int64_t>(*given);
    if (table.ranks && *table.ranks > ranks)
        return fail(fmt::format("{}: lists {} ranks, but --parameter says ranks={}", source,
                                *table.ranks, ranks));
    table.ranks = ranks;
    return {};
}

void add(Table& table, const Line& line, const Figures& figures, Draft& draft) {
    if (!(figures.microseconds > 0))
        return draft.skip(line.where, fmt::format("{} bytes", line.bytes),
                          fmt::format("its time {} is not positive", figures.microseconds));
    const char* const tool = table.rccl ? "rccl-tests" : "nccl-tests";
    Reading reading{.name = table.collective,
                    .place = table.rccl ? "hip" : "cuda",
                    .library = table.rccl ? "rccl" : "nccl",
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
            .method = fmt::format("{} compared every value with what it should be", tool),
            .bound = 0,
            .error = figures.wrong,
            .detail = *figures.wrong == 0
                          ? ""
                          : fmt::format("{} counted {} wrong values", tool, *figures.wrong)};
    draft.add(std::move(reading));
}

Result<void> check_bandwidths(const Table& table, std::string_view source) {
    if (table.misfit.empty() || table.fitting > 0) return {};
    return fail(fmt::format("{}: {}", source, table.misfit));
}

} // namespace assay::imports::nccl
