// SPDX-License-Identifier: Apache-2.0
//
// JSON of nccl-tests (-J FILE, versions 1 to 3 of the format) and of rccl-tests (-Z json -x FILE: a list of lines). Times
// in us, bandwidths in GB/s of 1e9.

#include "import/lines.hpp"
#include "import/nccl.hpp"
#include "import/values.hpp"
#include "json/json.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace assay::imports {
namespace {

using json::Value;

constexpr std::size_t largest = std::size_t{64} << 20U; // bytes; times of all iterations are long

std::optional<std::int64_t> integer_at(const Value& object, const char* key) {
    const auto number = number_at(object, key);
    if (!number || !(*number >= 0 && *number < 9e15)) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

/// The list of devices names the first rank of each process only (all of them where each has one GPU).
std::optional<std::int64_t> ranks_of(const Value& config) {
    const auto threads = integer_at(config, "nthreads");
    const auto gpus = integer_at(config, "ngpus");
    const Value* devices = find(config, "devices");
    if (!threads || !gpus || devices == nullptr || !devices->is_array() || devices->empty())
        return std::nullopt;
    if (*threads < 1 || *threads > 4096 || *gpus < 1 || *gpus > 4096) return std::nullopt;
    const std::int64_t each = *threads * *gpus;
    const auto listed = static_cast<std::int64_t>(devices->size());
    std::int64_t last = 0;
    for (const auto& device : *devices)
        last = std::max(last, integer_at(device, "rank").value_or(0));
    // Listed one by one, or every `each`-th.
    if (last + 1 == listed && listed > 1) return listed;
    return last + each == listed * each ? std::optional{listed * each} : std::nullopt;
}

void read_config(const Value& root, nccl::Table& table, Draft& draft) {
    const Value* config = find(root, "config");
    if (config == nullptr) return;
    table.ranks = ranks_of(*config);
    if (const auto iterations = integer_at(*config, "iterations"); iterations && *iterations > 0)
        table.iterations = static_cast<std::uint64_t>(*iterations);
    for (const char* key : {"nthreads", "ngpus", "warmup_iters", "aggregated_iterations", "graph"})
        if (const auto value = integer_at(*config, key)) table.settings.push_back({key, *value});
    if (const Value* devices = find(*config, "devices"); devices != nullptr && devices->is_array())
        for (const auto& device : *devices) {
            draft.add_host(text_at(device, "hostname"));
            const auto name = text_at(device, "device_info");
            draft.add_software("device", name);
            table.rccl = table.rccl || nccl::is_amd(name);
        }
}

void read_half(const Value& result, bool in_place, nccl::Table& table, const nccl::Line& line,
               Draft& draft) {
    const char* const key = in_place ? "in_place" : "out_of_place";
    const Value* half = find(result, key);
    if (half == nullptr) return; // null: this half was not run
    auto time = number_at(*half, "time");
    table.cpu_time = !time.has_value();
    if (!time) time = number_at(*half, "cpu_time");
    const auto algorithm = number_at(*half, "alg_bw");
    const auto bus = number_at(*half, "bus_bw");
    if (!time || !algorithm || !bus)
        return draft.skip(line.where + "." + key, json::show(*half),
                          "`time`, `alg_bw` and `bus_bw` should be numbers");
    nccl::Figures figures{.in_place = in_place,
                          .microseconds = *time,
                          .algorithm_bandwidth = *algorithm,
                          .bus_bandwidth = *bus,
                          .wrong = number_at(*half, "nwrong")};
    if (const Value* single =
            find(result, in_place ? "in_place_per_iter" : "out_of_place_per_iter")) {
        figures.fastest = number_at(*single, "min_us");
        figures.slowest = number_at(*single, "max_us");
        figures.p99 = number_at(*single, "p99_us");
        draft.note("shortest, longest and 99th percentile of a call are by GPU events; the time is "
                   "that of all iterations together");
    }
    nccl::add(table, line, figures, draft);
}

/// {"name": "AllReduce", "ranks": 8, "gpusPerRank": 1, "size": 8, "inPlace": 0, "time": 1, "algBw": 1, ...}, each a line
/// of any collective.
Result<void> read_rccl_lines(const Value& lines, std::string_view source, Draft& draft) {
    std::map<std::string, nccl::Table> tables;
    for (std::size_t i = 0; i < lines.size() && !draft.is_full(); ++i) {
        const Value& entry = lines[i];
        const auto where = json::join("", i);
        const auto bytes = integer_at(entry, "size");
        const auto in_place = integer_at(entry, "inPlace");
        const auto time = number_at(entry, "time");
        const auto algorithm = number_at(entry, "algBw");
        const auto bus = number_at(entry, "busBw");
        if (!bytes || !in_place || !time || !algorithm || !bus) {
            draft.skip(where, json::show(entry),
                       "`size`, `inPlace`, `time`, `algBw` and `busBw` should be numbers");
            continue;
        }
        const auto ranks = integer_at(entry, "ranks");
        const auto devices = integer_at(entry, "gpusPerRank").value_or(1);
        const auto name = text_at(entry, "name");
        auto& table = tables[fmt::format("{} {} {}", name, ranks.value_or(0), devices)];
        if (table.collective.empty()) {
            table.rccl = true;
            constexpr std::int64_t most = 10'000'000;
            if (ranks && *ranks >= 1 && *ranks <= most && devices >= 1 && devices <= most)
                table.ranks = *ranks * devices;
            if (auto chosen = nccl::choose_collective(table, name, where, draft.options(), source);
                !chosen)
                return chosen;
        }
        const auto wrong = text_at(entry, "wrong");
        nccl::add(table,
                  {.bytes = *bytes,
                   .type = text_at(entry, "type"),
                   .operation = text_at(entry, "redop"),
                   .where = where},
                  {.in_place = *in_place != 0,
                   .microseconds = *time,
                   .algorithm_bandwidth = *algorithm,
                   .bus_bandwidth = *bus,
                   .wrong = wrong.empty() ? number_at(entry, "wrong") : number_of(wrong)},
                  draft);
    }
    for (const auto& [name, table] : tables) ASSAY_TRY(nccl::check_bandwidths(table, source));
    return {};
}

} // namespace

Result<void> read_nccl_json(std::string_view text, std::string_view source, Draft& draft) {
    ASSAY_TRY(const auto value, json::parse(text, source, {.bytes = largest}));
    if (value.is_array()) return read_rccl_lines(value, source, draft);
    const auto list =
        array_at(value, "results", source, "nccl-tests", ", or it ended before its first line");
    if (!list) return tl::unexpected{list.error()};
    const Value& results = **list;
    nccl::Table table;
    std::string said = results.empty() ? "" : text_at(results.front(), "experiment_name");
    if (const Value* arguments = find(value, "args");
        arguments != nullptr && arguments->is_array() && !arguments->empty() &&
        arguments->front().is_string())
        said = arguments->front().get<std::string>();
    if (auto chosen = nccl::choose_collective(table, said, "args[0]", draft.options(), source);
        !chosen)
        return chosen;
    draft.set_started(text_at(value, "start_time"));
    draft.set_ended(text_at(value, "end_time"));
    if (const auto version = integer_at(value, "nccl_version"))
        draft.add_software("nccl.version", nccl::version_of(*version));
    read_config(value, table, draft);
    ASSAY_TRY(nccl::complete_ranks(table, draft.options(), source));
    for (std::size_t i = 0; i < results.size() && !draft.is_full(); ++i) {
        const Value& result = results[i];
        const auto bytes = integer_at(result, "size");
        nccl::Line line{.type = text_at(result, "type"),
                        .operation = text_at(result, "redop"),
                        .root = std::string{trimmed(text_at(result, "root"))},
                        .where = json::join("results", i)};
        if (!bytes) {
            draft.skip(line.where, json::show(result), "`size` is no number of bytes");
            continue;
        }
        line.bytes = *bytes;
        read_half(result, false, table, line, draft);
        read_half(result, true, table, line, draft);
    }
    return nccl::check_bandwidths(table, source);
}

} // namespace assay::imports
