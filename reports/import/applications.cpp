// SPDX-License-Identifier: Apache-2.0
//
// Functions for Google Benchmark and llama-bench: names taken apart, repetitions and aggregates, rates that follow.

#include "extract/units.hpp"
#include "import/figures.hpp"
#include "import/functions.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

namespace assay::imports {
namespace {

// --- Google Benchmark ------------------------------------------------------------------------------

/// "BM_copy/4096/size:8/threads:4/real_time" taken apart: the function, its arguments, its clock.
void read_name(std::string_view full, Reading& reading) {
    static constexpr std::array clocks{"real_time", "process_time", "manual_time"};
    static constexpr std::array protocol{"min_time", "min_warmup_time", "iterations", "repeats"};
    std::string name;
    int arguments = 0;
    bool in_arguments = false;
    for (const auto part : split(full, "/")) {
        const auto colon = part.find(':');
        const auto key = part.substr(0, colon);
        const auto value =
            colon == std::string_view::npos ? std::string_view{} : part.substr(colon + 1);
        if (!name.empty() && std::ranges::find(clocks, part) != clocks.end()) {
            reading.parameters.push_back({"clock", std::string{part}});
        } else if (!name.empty() && !value.empty() &&
                   std::ranges::find(protocol, key) != protocol.end()) {
            reading.settings.push_back(
                {std::string{key},
                 std::string{value}}); // how long it ran, no part of what was asked
        } else if (!name.empty() && !key.empty() &&
                   integer_of(value)) { // "std::vector<int>" has colons, too
            in_arguments = true;
            reading.parameters.push_back({std::string{key}, *integer_of(value)});
        } else if (const auto number = integer_of(part);
                   !name.empty() && (number || in_arguments)) {
            in_arguments = true;
            reading.parameters.push_back(
                {fmt::format("arg{}", arguments++),
                 number ? record::Value{*number} : record::Value{std::string{part}}});
        } else {
            if (!name.empty()) name += '/';
            name += part;
        }
    }
    // Blanks would take an id apart where it is listed with its parameters.
    std::ranges::replace(name, ' ', '_');
    reading.name = name.empty() ? "unnamed" : name;
}

/// The ending of an aggregate; before run_type there were only endings of names.
std::string aggregate_of(const Fields& f) {
    if (text_of(f, "run_type") == "aggregate") return std::string{text_of(f, "aggregate_name")};
    const auto name = text_of(f, "name");
    if (text_of(f, "run_type").empty())
        for (const std::string_view end : {"mean", "median", "stddev", "cv", "BigO", "RMS"})
            if (name.ends_with(fmt::format("_{}", end))) return std::string{end};
    return "";
}
std::string run_name(const Fields& f) {
    if (const auto name = text_of(f, "run_name"); !name.empty()) return std::string{name};
    const auto name = text_of(f, "name");
    const auto end = text_of(f, "run_type").empty() ? aggregate_of(f).size() : 0;
    return std::string{end == 0 ? name : name.substr(0, name.size() - end - 1)};
}

/// Facts about the machine, and names that have repetitions of their own.
const std::set<std::string>& read_context(Making& m) {
    if (!m.output.memory) {
        auto names = std::make_shared<std::set<std::string>>();
        for (const auto& record : m.output.records)
            if (aggregate_of(record.fields).empty()) names->insert(run_name(record.fields));
        m.output.memory = names;
        auto& machine = m.draft.machine();
        if (const auto cpus = count_in(m.text("num_cpus"), 1'000'000); cpus > 0)
            machine.threads = static_cast<int>(cpus);
        const auto list = [&](const char* name, std::size_t i) {
            const auto& values = m.output.lists[name];
            return i < values.size() ? text_of(values[i], name) : std::string_view{};
        };
        for (std::size_t i = 0; i < m.output.lists["cache_size"].size(); ++i) {
            const auto level = count_in(list("cache_level", i), 9);
            const auto bytes = count_in(list("cache_size", i));
            const int threads = machine.threads.value_or(1);
            const auto sharing =
                std::max<std::int64_t>(count_in(list("cache_sharing", i), threads), 1);
            if (level > 0 && bytes > 0)
                machine.caches.push_back(
                    {.level = static_cast<int>(level),
                     .type = word_of(list("cache_type", i)),
                     .bytes = bytes,
                     .count = std::max(1, threads / static_cast<int>(sharing))});
        }
    }
    return *std::static_pointer_cast<std::set<std::string>>(m.output.memory);
}

} // namespace

Result<bool> make_gbench(Making& m) {
    static const auto own = words_of( // what is read, or says nothing of the work
        "iterations real_time cpu_time threads repetitions repetition_index family_index "
        "per_family_instance_index num_cpus name run_name run_type time_unit aggregate_name "
        "aggregate_unit label bytes_per_second items_per_second big_o cpu_coefficient "
        "real_coefficient rms started version host build_type scaling error_occurred "
        "error_message skipped skip_message");
    const auto& repeated = read_context(m);
    const auto& f = m.record.fields;
    const auto name = run_name(f);
    const auto aggregate = aggregate_of(f);
    if (name.empty()) return m.skip("missing name");
    if (!aggregate.empty() && (aggregate != "mean" || repeated.contains(name))) {
        m.draft.note("aggregates were left out; they follow from the repetitions");
        return false;
    }
    read_name(name, m.reading);
    m.draft.note("cpu_time was left out; a run has wall clock times");
    m.reading.headline = "time";
    const bool skipped = m.text("skipped") == "true";
    if (skipped || m.text("error_occurred") == "true") {
        m.reading.status = skipped ? record::Status::skipped : record::Status::failed;
        m.reading.reason = m.text(skipped ? "skip_message" : "error_message");
        if (m.reading.reason.empty()) m.reading.reason = "the benchmark gave no reason";
        return true;
    }
    const auto unit = unit_of(m.text("time_unit").empty() ? "ns" : m.text("time_unit"));
    const auto time = number_of(m.text("real_time"));
    if (!unit || unit->base != "s") return m.skip("unknown time_unit (expected ns, us, ms or s)");
    if (!time || !(*time > 0)) return m.skip("invalid real_time (expected a positive number)");
    m.reading.seconds = *time * unit->factor;
    if (!aggregate.empty())
        m.draft.note("only aggregates were written: the mean counts as one repetition");
    else if (const auto calls = count_in(m.text("iterations")); calls > 0)
        m.reading.calls = static_cast<std::uint64_t>(calls);
    if (m.text("build_type") == "debug")
        m.draft.note("the benchmark library was built without optimisation: times are too long");
    if (m.text("scaling") == "true")
        m.draft.note("the CPU clock was not fixed during the measurement");
    for (const auto& [key, value] : f)
        if (number_of(value) && std::ranges::find(own, key) == own.end())
            m.draft.note(
                fmt::format("counter {}: left out (no metric for it)", json::show_text(key)));
    return true;
}

// --- llama-bench -----------------------------------------------------------------------------------

Result<bool> make_llama(Making& m) {
    auto& f = m.record.fields;
    auto& reading = m.reading;
    const auto count = [&](const char* name) {
        return count_in(text_of(f, name), std::int64_t{1} << 40U);
    };
    const auto tokens = static_cast<double>(count("n_prompt") + count("n_gen"));
    const auto rate_text = m.text("avg_ts");
    const auto rate = printed_of(rate_text.substr(0, rate_text.find(' '))); // "2368.80 ± 93.24"
    if (!rate || !(rate->value > 0))
        return m.skip("invalid tokens per second (expected a positive number)");
    if (tokens == 0) return m.skip("neither prompt nor generated tokens");
    reading.name = count("n_gen") == 0      ? "prompt"
                   : count("n_prompt") == 0 ? "generation"
                                            : "prompt_and_generation";
    if (reading.place != "host") // the threads are as many as the host has cores, and do nothing
        if (const auto* threads = record::find(reading.parameters, "n_threads");
            threads != nullptr) {
            reading.settings.push_back({"n_threads", *threads});
            std::erase_if(reading.parameters, [](const auto& p) { return p.name == "n_threads"; });
        }
    reading.headline = "token_rate";
    const auto mean = number_of(m.text("avg_ns"));
    if (!mean) {
        m.draft.note("the table has means only; for each repetition: -o json");
        reading.extra = {{"token_rate", rate->value}};
        return true;
    }
    // A mean of rates is not the rate of the mean time, but lies within what the repetitions spread.
    constexpr double tolerance = 0.01;
    constexpr double nano = 1e-9;
    const auto spread = std::abs(number_of(m.text("stddev_ts")).value_or(0));
    if (!(*mean > 0) ||
        !(std::abs(tokens / (*mean * nano) - rate->value) <= tolerance * rate->value + spread))
        return m.skip("its tokens per second do not match its tokens and time");
    reading.work = {{"tokens", tokens}};
    std::vector<double> samples;
    for (const auto word : words_of(m.text("samples_ns")))
        samples.push_back(number_of(word).value_or(0) * nano);
    if (samples.empty() || std::ranges::any_of(samples, [](double s) { return !(s > 0); }))
        samples = {*mean * nano};
    else
        reading.calls = 1;
    for (const double seconds : samples) {
        reading.seconds = seconds;
        m.draft.add(reading);
    }
    return false; // each is added
}

} // namespace assay::imports
