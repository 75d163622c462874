// SPDX-License-Identifier: Apache-2.0
//
// nccl-tests and rccl-tests: which collective it is, how many ranks took part, and a bus bandwidth that follows from
// size, time and ranks.

#include "import/nccl.hpp"

#include "import/figures.hpp"
#include "import/functions.hpp"
#include "json/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <utility>

namespace assay::imports::nccl {
namespace {

constexpr double giga = 1e9;   // nccl-tests divides by 1.0E9
constexpr double micro = 1e-6; // times are in us

constexpr std::array<std::string_view, 11> names{
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "alltoallv", "broadcast",
    "reduce",     "gather",     "scatter",        "sendrecv", "hypercube"};

/// Without underscores and capitals, which people and programs write in many ways.
std::string bare(std::string_view text) {
    auto word = word_of(text);
    std::erase(word, '_');
    return word;
}
std::string exactly(std::string_view text) {
    const auto* const found = std::ranges::find(names, bare(text), bare);
    return found == names.end() ? "" : std::string{*found};
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
/// Range of bus bandwidth over algorithm bandwidth, by the printed digits; nothing if they are too few.
std::optional<Range> printed_factor(double algorithm_bandwidth, double bus_bandwidth) {
    const auto around = [](double printed) {
        const double margin =
            std::max(0.0051, 0.0006 * printed); // half a digit of two decimals, or of four digits
        return Range{printed - margin, printed + margin};
    };
    const auto algorithm = around(algorithm_bandwidth);
    const auto bus = around(bus_bandwidth);
    constexpr double narrow = 1.1;
    if (algorithm.low <= 0 || bus.low <= 0) return std::nullopt;
    const Range factor{bus.low / algorithm.high, bus.high / algorithm.low};
    return factor.high / factor.low < narrow ? std::optional{factor} : std::nullopt;
}

/// A collective on so many ranks, in one output.
struct Table {
    std::string collective;
    std::string named_by; ///< who says so, for messages
    bool rccl = false;    ///< AMD's library and devices
    std::optional<std::int64_t> ranks;
    // Lines whose bandwidths have digits enough to tell the collective: how many fit, and the first that does not.
    int fitting = 0;
    std::string misfit;
    bool names_wrong = false; ///< a line of the output has a number of wrong values
    std::size_t left = 0;     ///< lines that are still to come
};
using Tables = std::map<std::string, Table, std::less<>>;

std::string key_of(const Record& r) {
    return fmt::format("{} {} {}", text_of(r.fields, "collective"), text_of(r.fields, "nranks"),
                       text_of(r.fields, "gpus_each"));
}

Result<void> choose_collective(Table& table, const Making& m) {
    const auto& given_name = m.draft.options().name;
    const auto where = m.output.where.empty() ? m.record.where : m.output.where;
    const auto known = fmt::format("expected one of {}", fmt::join(names, ", "));
    const auto said = m.text("collective").empty() ? m.text("program") : m.text("collective");
    const auto given = exactly(given_name);
    if (!given_name.empty() && given.empty())
        return fail(
            fmt::format("--name: unknown collective {}; {}", json::show_text(given_name), known));
    const auto program = said.empty() ? "" : collective_of(said);
    if (!said.empty() && program.empty() && given.empty())
        return fail(fmt::format("{}: {}: unknown collective {}; name it with --name; {}", m.source,
                                where, json::show_text(said), known));
    if (!program.empty() && !given.empty() && program != given)
        return fail(fmt::format("{}: {}: the output is of {}, but --name is {}: leave --name out",
                                m.source, where, program, given));
    const auto file = collective_of_file(m.source);
    table.collective = !program.empty() ? program : !given.empty() ? given : file;
    table.named_by = !program.empty() ? "as the output says"
                     : !given.empty() ? "by --name"
                                      : "by the file's name";
    if (!table.collective.empty()) return {};
    return fail(fmt::format("{}: {}: does not say which collective it measured (nccl-tests before "
                            "2.17): import each in its own file, with e.g. --name all_reduce; {}",
                            m.source, where, known));
}

/// The list of devices is cut where lines of a process are too long, so the largest rank counts, and whole processes.
std::optional<std::int64_t> ranks_of(const Making& m) {
    constexpr std::int64_t most = 10'000'000;
    const auto count = [&](std::string_view text) {
        return std::max<std::int64_t>(count_in(text, most), 1);
    };
    if (const auto said = count_in(m.text("nranks"), most); said > 0)
        return said * count(m.text("gpus_each"));
    const auto devices = m.output.lists.find("rank");
    if (devices == m.output.lists.end() || devices->second.empty()) return std::nullopt;
    const auto each = count(m.text("nthreads")) * count(m.text("ngpus"));
    std::int64_t last = 0;
    std::map<std::string_view, std::int64_t>
        groups; // communicators of NCCL_TESTS_SPLIT, and their ranks
    for (const auto& device : devices->second) {
        last = std::max(last, count_in(text_of(device, "rank"), most));
        ++groups[text_of(device, "group")];
    }
    const auto listed = static_cast<std::int64_t>(devices->second.size());
    if (m.text("format") == "JSON") { // each, or the first of each process
        if (last + 1 == listed && listed > 1) return listed;
        return last + each == listed * each ? std::optional{listed * each} : std::nullopt;
    }
    const auto all = (last + each) / each * each;
    if (groups.size() == 1) return all;
    const auto first = groups.begin()->second;
    const bool is_equal =
        std::ranges::all_of(groups, [&](const auto& g) { return g.second == first; });
    return all == listed && is_equal ? std::optional{first} : std::nullopt;
}

bool is_amd(const Making& m) {
    if (!m.text("rccl_said").empty() || m.text("kind") == "rccl") return true;
    const auto devices = m.output.lists.find("rank");
    return devices != m.output.lists.end() &&
           std::ranges::any_of(devices->second, [](const Fields& device) {
               static constexpr std::array marks{"AMD ", "Radeon", "gfx"}; // only AMD uses them
               return std::ranges::any_of(marks, [&](const char* mark) {
                   return text_of(device, "device").find(mark) != std::string_view::npos;
               });
           });
}

Result<Table*> table_of(Making& m) {
    if (!m.output.memory) {
        const auto tables = std::make_shared<Tables>();
        const bool any = std::ranges::any_of(m.output.records, [](const Record& record) {
            return number_of(text_of(record.fields, "wrong")).value_or(0) > 0;
        });
        for (const auto& record : m.output.records) {
            auto& table = (*tables)[key_of(record)];
            table.names_wrong = any;
            ++table.left;
        }
        m.output.memory = tables;
    }
    auto& table = (*std::static_pointer_cast<Tables>(m.output.memory))[key_of(m.record)];
    if (table.collective.empty()) {
        ASSAY_TRY(choose_collective(table, m));
        table.rccl = is_amd(m);
        table.ranks = ranks_of(m);
        const auto given = record::number(m.draft.options().parameters, "ranks");
        constexpr double most = 1e9;
        if (given && *given >= 1 && *given < most) {
            const auto ranks = static_cast<std::int64_t>(*given);
            if (table.ranks && *table.ranks > ranks)
                return fail(fmt::format("{}: lists {} ranks, but --parameter is ranks={}", m.source,
                                        *table.ranks, ranks));
            table.ranks = ranks;
        }
    }
    return &table;
}

/// GB/s of 1e9 bytes, as printed.
struct Bandwidths {
    double algorithm;
    double bus;
};

void compare_factor(Table& table, const Making& m, const Bandwidths& printed) {
    const auto expected = bus_factor(table.collective, *table.ranks);
    const auto factor = printed_factor(printed.algorithm, printed.bus);
    if (!expected || *expected <= 0 || !factor) return;
    if (factor->holds(*expected)) {
        ++table.fitting;
        return;
    }
    if (!table.misfit.empty()) return;
    std::vector<std::string_view> others;
    for (const auto name : names)
        if (const auto other = bus_factor(name, *table.ranks); other && factor->holds(*other))
            others.push_back(name);
    table.misfit =
        fmt::format("{}: busbw {} / algbw {} is {:.3g}, but {:.3g} is expected of {} ({}) on {} "
                    "ranks{}; correct "
                    "it with --name or --parameter ranks=N",
                    m.record.where, printed.bus, printed.algorithm, printed.bus / printed.algorithm,
                    *expected, table.collective, table.named_by, *table.ranks,
                    others.empty() ? "" : fmt::format("; {} would fit", fmt::join(others, ", ")));
}

/// Amounts that make the file's bandwidths out of its time, or the bandwidths themselves.
void add_bandwidths(Table& table, const Making& m, std::int64_t size, double microseconds,
                    const Bandwidths& printed) {
    auto& reading = m.reading;
    const double bytes = static_cast<double>(size) * algorithm_share(table.collective, table.ranks);
    const double algorithm = bytes / (microseconds * micro) / giga;
    const auto known = table.ranks ? bus_factor(table.collective, *table.ranks) : std::nullopt;
    const double factor = known.value_or(0); // 0: not known, or nobody to send to
    // Before NCCL 2.7 these two programs printed the bus bandwidth in both columns.
    const bool twice = known &&
                       (table.collective == "all_gather" || table.collective == "reduce_scatter") &&
                       printed.algorithm == printed.bus && agrees(algorithm * factor, printed.bus);
    if (twice)
        m.draft.note("this version of nccl-tests printed the bus bandwidth as algorithm bandwidth; "
                     "the algorithm bandwidth was recalculated as size over time");
    else if (known)
        compare_factor(table, m, printed);
    const bool follows = twice || agrees(algorithm, printed.algorithm);
    if (follows && bytes > 0)
        reading.work.push_back({"algorithm_bytes", bytes});
    else if (printed.algorithm > 0)
        reading.extra.push_back({"algorithm_bandwidth", printed.algorithm * giga});
    const bool bus_follows =
        known && follows && (twice || agrees(printed.algorithm * factor, printed.bus));
    if (bus_follows && bytes > 0 && factor > 0) {
        reading.work.push_back({"bus_bytes", bytes * factor});
    } else if (printed.bus > 0) {
        reading.extra.push_back({"bus_bandwidth", printed.bus * giga});
        if (known && !bus_follows)
            m.draft.note(
                fmt::format("{} on {} ranks: bandwidths do not match size, time and ranks; "
                            "kept as printed",
                            table.collective, *table.ranks));
    }
    const bool has_bus = record::find(reading.work, "bus_bytes") != nullptr ||
                         record::find(reading.extra, "bus_bandwidth") != nullptr;
    reading.headline = has_bus ? "bus_bandwidth" : "time";
}

bool add(Table& table, const Making& m) {
    auto& reading = m.reading;
    const auto size = integer_of(m.text("bytes"));
    const bool is_cpu = m.text("time.title") == "cputime" || m.text("time").empty();
    const auto time = number_of(m.text("time").empty() ? m.text("cpu_time") : m.text("time"));
    const auto algorithm = number_of(m.text("algbw"));
    const auto bus = number_of(m.text("busbw"));
    if (!size || *size < 0) return m.skip("invalid size (expected bytes)");
    if (!time || !algorithm || !bus)
        return m.skip("invalid time, algbw or busbw (expected numbers)");
    const double microseconds = *time * (m.text("unit") == "ms" ? 1e3 : 1); // before 2.4
    if (!(microseconds > 0))
        return m.skip(fmt::format("invalid time {} (expected a positive number)", *time));
    const char* const tool = table.rccl ? "rccl-tests" : "nccl-tests";
    reading.name = table.collective;
    reading.place = table.rccl ? "hip" : "cuda";
    reading.library = table.rccl ? "rccl" : "nccl";
    reading.seconds = microseconds * micro;
    if (table.ranks) reading.parameters.push_back({"ranks", *table.ranks});
    if (is_cpu) reading.parameters.push_back({"clock", std::string{"cpu"}});
    if (table.ranks == 1)
        m.draft.note("a single rank sends nothing: its times do not measure a link");
    if (table.ranks == 1)
        reading.headline = "time";
    else
        add_bandwidths(table, m, *size, microseconds, {*algorithm, *bus});
    const auto keep = [&](const char* field, const char* metric) {
        if (const auto value = number_of(m.text(field)); value && *value > 0)
            reading.extra.push_back({metric, *value * micro});
    };
    if (m.text("format") == "JSON" && !m.text("i_min").empty())
        m.draft.note(
            "shortest, longest and 99th percentile are from GPU events; the time is the mean of "
            "all iterations");
    keep("i_min", "fastest_time");
    keep("i_max", "slowest_time");
    if (const auto p99 = number_of(m.text("i_p99"))) reading.p99 = *p99 * micro;
    // Before #wrong there is one number for the whole output: any line may be the wrong one. No error proves
    // nothing, as the check may have been switched off.
    const bool is_error = m.text("wrong.title") == "error" || m.text("wrong.title") == "res";
    if (is_error)
        m.draft.note(
            "this version of nccl-tests prints no number of wrong values for each line: only "
            "its sum at the end was checked");
    auto wrong = is_error ? std::nullopt : number_of(m.text("wrong"));
    const auto all = number_of(m.text("out_of_bounds"));
    if (wrong.value_or(0) == 0 && all && *all > 0 && (is_error || !table.names_wrong)) wrong = all;
    if (wrong)
        reading.verification = record::Verification{
            .passed = *wrong == 0,
            .method = fmt::format("{} compared every value with the expected one", tool),
            .bound = 0,
            .error = wrong,
            .detail = *wrong == 0 ? "" : fmt::format("{} counted {} wrong values", tool, *wrong)};
    m.draft.add(std::move(reading));
    return false; // it is added
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
    std::string found;
    for (std::size_t i = 0; i < words.size(); ++i)
        for (auto count = std::min<std::size_t>(3, words.size() - i); count > 0; --count) {
            const auto name = exactly( // of three words: all_to_all
                fmt::format("{}", fmt::join(std::span{words}.subspan(i, count), "")));
            if (name.empty()) continue;
            if (!found.empty() && found != name) return ""; // "reduce and gather.log"
            found = name;
            i += count - 1;
            break;
        }
    return found;
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

} // namespace assay::imports::nccl

namespace assay::imports {

Result<bool> make_nccl(Making& m) {
    ASSAY_TRY(auto* const table, nccl::table_of(m));
    const bool is_complete = nccl::add(*table, m);
    if (--table->left == 0 && !table->misfit.empty() && table->fitting == 0)
        return fail(fmt::format("{}: {}", m.source, table->misfit));
    return is_complete;
}

} // namespace assay::imports
