// SPDX-License-Identifier: Apache-2.0

#include "export/gbench.hpp"

#include "json/json.hpp"
#include "record/metrics.hpp"
#include "report/text.hpp"
#include "report/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

using json::Value;
using record::Case;

constexpr double nanoseconds =
    1e9; // per second: the unit every tool of Google Benchmark understands

std::string without_slashes(std::string text) {
    std::ranges::replace(text, '/', '_');
    return text;
}

std::int64_t threads_of(const Case& c) {
    auto count = record::number(c.settings, "threads");
    if (!count) count = record::number(c.parameters, "threads");
    return count && *count >= 1 && *count < 1e9 ? static_cast<std::int64_t>(*count) : 1;
}

Value context_of(const record::Run& run) {
    Value caches = Value::array();
    for (const auto& cache : run.machine.caches) {
        std::string type = cache.type;
        if (!type.empty() && type[0] >= 'a' && type[0] <= 'z')
            type[0] = static_cast<char>(type[0] - 'a' + 'A');
        const int sharing =
            cache.count > 0 ? std::max(1, run.machine.usable_threads.value_or(1) / cache.count) : 1;
        caches.push_back({{"type", type},
                          {"level", cache.level},
                          {"size", cache.bytes},
                          {"num_sharing", sharing}});
    }
    return {{"date", run.started},
            {"host_name", run.machine.hostname},
            {"executable", "assay " + run.version},
            {"num_cpus", run.machine.threads ? Value(*run.machine.threads) : Value(nullptr)},
            {"mhz_per_cpu", std::lround(run.machine.core_clock_hz.value_or(0) / 1e6)},
            {"cpu_scaling_enabled", false},
            {"caches", caches},
            {"load_avg", Value::array()},
            {"library_build_type", "release"},
            {"assay_run", run.id},
            {"assay_suite", run.suite},
            {"cpu_model", run.machine.cpu_model}};
}

/// Rates that follow from seconds per call, by the table of metrics.
void add_counters(Value& entry, const Case& c, double seconds) {
    for (const auto& metric : record::metric_table) {
        if (metric.work.empty()) continue;
        const double work = record::number(c.work, metric.work).value_or(0);
        if (work > 0 && seconds > 0) entry[std::string{metric.name}] = work / seconds;
    }
}

struct Name {
    std::string text;
    std::size_t family = 0;
    std::size_t instance = 0;
};

Value entry_of(const Name& name, const std::string& full, const char* type) {
    return {{"name", full},
            {"family_index", name.family},
            {"per_family_instance_index", name.instance},
            {"run_name", name.text},
            {"run_type", type}};
}

void add_times(Value& entry, double seconds) {
    entry["real_time"] = seconds * nanoseconds;
    entry["cpu_time"] = seconds * nanoseconds;
    entry["time_unit"] = "ns";
}

void add_error(Value& out, const Case& c, const Name& name) {
    Value entry = entry_of(name, name.text, "iteration");
    entry["repetitions"] = 1;
    entry["repetition_index"] = 0;
    entry["threads"] = threads_of(c);
    entry["error_occurred"] = true;
    entry["error_message"] =
        fmt::format("{}{}{}", record::to_string(c.status), c.reason.empty() ? "" : ": ", c.reason);
    entry["iterations"] = 0;
    add_times(entry, 0);
    out.push_back(std::move(entry));
}

struct Aggregate {
    const char* name;
    double seconds;
};

std::vector<Aggregate> aggregates_of(std::vector<double> seconds) {
    const auto count = static_cast<double>(seconds.size());
    double sum = 0;
    for (const double value : seconds) sum += value;
    const double mean = sum / count;
    double squares = 0;
    for (const double value : seconds) squares += (value - mean) * (value - mean);
    const double deviation = seconds.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
    std::ranges::sort(seconds);
    const std::size_t half = seconds.size() / 2;
    const double median =
        seconds.size() % 2 == 1 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2;
    return {{"mean", mean}, {"median", median}, {"stddev", deviation}};
}

void add_case(Value& out, const Case& c, const Name& name) {
    std::vector<const record::Replica*> replicas;
    std::vector<double> seconds;
    for (const auto& replica : c.replicas)
        if (replica.seconds && *replica.seconds > 0) {
            replicas.push_back(&replica);
            seconds.push_back(*replica.seconds);
        }
    if (headline(c) == nullptr || replicas.empty()) {
        add_error(out, c, name);
        return;
    }
    for (std::size_t i = 0; i < replicas.size(); ++i) {
        const auto& replica = *replicas[i];
        Value entry = entry_of(name, name.text, "iteration");
        entry["repetitions"] = replicas.size();
        entry["repetition_index"] = i;
        entry["threads"] = threads_of(c);
        entry["iterations"] =
            replica.calls.value_or(1) * std::max<std::uint64_t>(replica.values.size(), 1);
        add_times(entry, seconds[i]);
        add_counters(entry, c, seconds[i]);
        out.push_back(std::move(entry));
    }
    for (const auto& aggregate : aggregates_of(seconds)) {
        Value entry = entry_of(name, name.text + "_" + aggregate.name, "aggregate");
        entry["repetitions"] = replicas.size();
        entry["threads"] = threads_of(c);
        entry["aggregate_name"] = aggregate.name;
        entry["aggregate_unit"] = "time";
        entry["iterations"] = replicas.size();
        add_times(entry, aggregate.seconds);
        // The spread of a rate does not follow from that of the time.
        if (std::string_view{aggregate.name} != "stddev") add_counters(entry, c, aggregate.seconds);
        out.push_back(std::move(entry));
    }
}

} // namespace

std::string gbench_name(const Case& c) {
    std::string name = c.benchmark;
    std::string by = c.library;
    if (c.place.kind != "host" && !c.place.kind.empty())
        by += fmt::format("@{}{}", c.place.kind, c.place.index);
    name += "[" + by + "]";
    for (const auto& parameter : c.parameters)
        name += fmt::format("/{}:{}", without_slashes(parameter.name),
                            without_slashes(record::to_string(parameter.value)));
    return name;
}

std::string to_gbench(const record::Run& original) {
    const record::Run run = plain(original);
    Value benchmarks = Value::array();
    struct Family {
        std::size_t index = 0;
        std::size_t cases = 0;
    };
    std::map<std::string, Family> families;
    for (const auto& c : run.cases) {
        const std::string id = c.benchmark + "[" + c.library + "]";
        auto& family = families.try_emplace(id, Family{.index = families.size()}).first->second;
        add_case(benchmarks, c,
                 {.text = gbench_name(c), .family = family.index, .instance = family.cases++});
    }
    return json::to_text({{"context", context_of(run)}, {"benchmarks", std::move(benchmarks)}});
}

} // namespace assay::report
