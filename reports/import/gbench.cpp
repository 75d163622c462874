// SPDX-License-Identifier: Apache-2.0
//
// Google Benchmark's JSON (--benchmark_format=json). Every entry of run_type "iteration" is one
// repetition: real_time is the mean of its iterations. Aggregates are computed from those and stand for
// them only where the repetitions themselves are not in the file.

#include "import/draft.hpp"
#include "import/lines.hpp"
#include "import/values.hpp"
#include "json/json.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace assay::imports {
namespace {

using json::Value;

constexpr std::size_t largest = std::size_t{64} << 20U; // bytes; 60 000 benchmarks

bool is_true(const Value& object, const char* key) {
    const Value* value = find(object, key);
    return value != nullptr && value->is_boolean() && value->get<bool>();
}

/// Seconds in one of the file's units of time.
std::optional<double> unit_of(const std::string& name) {
    static constexpr std::array<std::pair<std::string_view, double>, 4> units{
        {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}}};
    if (name.empty()) return 1e-9; // files from before there was a choice
    for (const auto& [unit, seconds] : units)
        if (unit == name) return seconds;
    return std::nullopt;
}

/// How long or how often it was run, which is no part of what was asked.
bool is_protocol(std::string_view name) {
    static constexpr std::array names{"min_time", "min_warmup_time", "iterations", "repeats"};
    return std::ranges::find(names, name) != names.end();
}

/// "BM_copy/4096/size:8/threads:4/real_time" taken apart: the function, its arguments, its clock.
void read_name(std::string_view full, Reading& reading) {
    std::string name;
    int arguments = 0;
    bool in_arguments = false;
    for (const auto part : split(full, "/")) {
        const auto colon = part.find(':');
        // "std::vector<int>" has colons, too.
        const bool named = !name.empty() && colon != std::string_view::npos && colon > 0 &&
                           integer_of(part.substr(colon + 1)).has_value();
        const auto key = named ? part.substr(0, colon) : std::string_view{};
        if (!name.empty() &&
            (part == "real_time" || part == "process_time" || part == "manual_time")) {
            reading.parameters.push_back({"clock", std::string{part}});
        } else if (!name.empty() && colon != std::string_view::npos &&
                   is_protocol(part.substr(0, colon))) {
            reading.settings.push_back(
                {std::string{part.substr(0, colon)}, std::string{part.substr(colon + 1)}});
        } else if (named) {
            in_arguments = true;
            reading.parameters.push_back({std::string{key}, *integer_of(part.substr(colon + 1))});
        } else if (const auto number = integer_of(part); number && !name.empty()) {
            in_arguments = true;
            reading.parameters.push_back({fmt::format("arg{}", arguments++), *number});
        } else if (in_arguments) {
            reading.parameters.push_back({fmt::format("arg{}", arguments++), std::string{part}});
        } else {
            if (!name.empty()) name += '/';
            name += part;
        }
    }
    // Blanks would take an id apart where it is listed with its parameters.
    std::ranges::replace(name, ' ', '_');
    reading.name = name.empty() ? "unnamed" : name;
}

class Reader {
public:
    explicit Reader(Draft& draft) : draft_{draft} {}

    void context(const Value& context) {
        draft_.set_started(text_at(context, "date"));
        draft_.add_host(text_at(context, "host_name"));
        draft_.set_tool_version(text_at(context, "library_version"));
        if (const auto cpus = number_at(context, "num_cpus"); cpus && *cpus >= 1 && *cpus < 1e6)
            draft_.machine().threads = static_cast<int>(*cpus);
        if (text_at(context, "library_build_type") == "debug")
            draft_.note("the benchmark library was built without optimisation: times are too long");
        if (is_true(context, "cpu_scaling_enabled"))
            draft_.note("the clock of the CPU was not fixed while measuring");
        caches(context);
    }

    void benchmarks(const Value& list) {
        for (const auto& entry : list)
            if (!is_aggregate(entry)) repeated_.insert(run_name(entry));
        for (std::size_t i = 0; i < list.size() && !draft_.is_full(); ++i)
            entry(list[i], json::join("benchmarks", i));
        for (const auto& name : counters_)
            draft_.note(fmt::format("counter {}: there is no metric for it, left out",
                                    json::show_text(name)));
        if (aggregates_ > 0)
            draft_.note(fmt::format("{} aggregates are left out: they follow from the repetitions",
                                    aggregates_));
    }

private:
    void caches(const Value& context) {
        const Value* list = find(context, "caches");
        if (list == nullptr || !list->is_array()) return;
        for (const auto& entry : *list) {
            const auto bytes = number_at(entry, "size");
            const auto level = number_at(entry, "level");
            const auto sharing = number_at(entry, "num_sharing");
            if (!bytes || !level || !(*bytes > 0) || *bytes > 1e15 || !(*level >= 1 && *level < 10))
                continue;
            const int threads = draft_.machine().threads.value_or(1);
            const int shared =
                sharing && *sharing >= 1 && *sharing <= threads ? static_cast<int>(*sharing) : 1;
            draft_.machine().caches.push_back({.level = static_cast<int>(*level),
                                               .type = word_of(text_at(entry, "type")),
                                               .bytes = static_cast<std::int64_t>(*bytes),
                                               .count = std::max(1, threads / shared)});
        }
    }

    static bool is_aggregate(const Value& entry) {
        return text_at(entry, "run_type") == "aggregate" || !old_aggregate(entry).empty();
    }
    /// Before run_type there were only the endings of names.
    static std::string old_aggregate(const Value& entry) {
        if (find(entry, "run_type") != nullptr) return "";
        const auto name = text_at(entry, "name");
        for (const std::string_view end : {"mean", "median", "stddev", "cv", "BigO", "RMS"})
            if (name.ends_with(fmt::format("_{}", end))) return std::string{end};
        return "";
    }
    static std::string aggregate_name(const Value& entry) {
        const auto name = text_at(entry, "aggregate_name");
        return name.empty() ? old_aggregate(entry) : name;
    }
    /// The name without the ending of an aggregate.
    static std::string run_name(const Value& entry) {
        if (auto name = text_at(entry, "run_name"); !name.empty()) return name;
        auto name = text_at(entry, "name");
        if (const auto end = old_aggregate(entry); !end.empty())
            name.resize(name.size() - end.size() - 1);
        return name;
    }

    void entry(const Value& entry, const std::string& where) {
        const auto name = run_name(entry);
        if (name.empty()) return draft_.skip(where, json::show(entry), "it has no name");
        const bool aggregate = is_aggregate(entry);
        if (aggregate && (aggregate_name(entry) != "mean" || repeated_.contains(name))) {
            ++aggregates_;
            return;
        }
        Reading reading{.headline = "time", .where = where};
        read_name(name, reading);
        if (is_true(entry, "error_occurred") || is_true(entry, "skipped")) {
            const bool skipped = is_true(entry, "skipped");
            reading.status = skipped ? record::Status::skipped : record::Status::failed;
            reading.reason = text_at(entry, skipped ? "skip_message" : "error_message");
            if (reading.reason.empty()) reading.reason = "the benchmark gave no reason";
            return draft_.add(std::move(reading));
        }
        const auto unit = unit_of(text_at(entry, "time_unit"));
        const auto time = number_at(entry, "real_time");
        if (!unit)
            return draft_.skip(where, text_at(entry, "time_unit"),
                               "time_unit is none of ns, us, ms, s");
        if (!time || !(*time > 0))
            return draft_.skip(where, name, "real_time is no positive number");
        reading.seconds = *time * *unit;
        if (aggregate) {
            draft_.note("where only aggregates were written, the mean stands for the repetitions");
        } else if (const auto calls = number_at(entry, "iterations");
                   calls && *calls >= 1 && *calls < 1e18) {
            reading.calls = static_cast<std::uint64_t>(*calls);
        }
        counters(entry, reading);
        draft_.add(std::move(reading));
    }

    /// What is not one of the format's own keys is a counter.
    void counters(const Value& entry, Reading& reading) {
        static const std::set<std::string> own{
            "iterations",       "real_time",    "cpu_time",
            "threads",          "repetitions",  "time_unit",
            "repetition_index", "family_index", "per_family_instance_index"};
        for (const auto& [key, value] : entry.items()) {
            if (!value.is_number() || own.contains(key)) continue;
            const double number = value.get<double>();
            if (key == "bytes_per_second" && number > 0)
                reading.extra.push_back({"bandwidth", number});
            else if (key == "items_per_second" && number > 0)
                reading.extra.push_back({"item_rate", number});
            else if (counters_.size() < most_counters)
                counters_.insert(key);
        }
    }

    static constexpr std::size_t most_counters = 50; // names; a note for each

    Draft& draft_;
    std::set<std::string> repeated_; ///< names with repetitions of their own
    std::set<std::string> counters_;
    std::size_t aggregates_ = 0;
};

} // namespace

Result<void> read_gbench(std::string_view text, std::string_view source, Draft& draft) {
    ASSAY_TRY(const auto value, json::parse(text, source, {.bytes = largest}));
    const auto list = array_at(value, "benchmarks", source, "Google Benchmark");
    if (!list) return tl::unexpected{list.error()};
    Reader reader{draft};
    if (const Value* context = find(value, "context"); context != nullptr) reader.context(*context);
    reader.benchmarks(**list);
    draft.note("cpu_time is left out: a run holds wall clock times");
    return {};
}

} // namespace assay::imports
