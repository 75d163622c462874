// SPDX-License-Identifier: Apache-2.0

#include "import/functions.hpp"

#include "extract/units.hpp"
#include "import/figures.hpp"
#include "json/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace assay::imports {
namespace {

// --- STREAM and BabelStream ------------------------------------------------------------------------
// Kernels over whole arrays: a bandwidth of the shortest time beside the mean, the shortest and the longest time.

Result<bool> make_kernel(Making& m) {
    auto& reading = m.reading;
    const auto arrays = count_in(m.text("arrays")); // read or written once for each element
    if (arrays == 0)
        return m.skip("unknown function (expected Copy, Mul, Scale, Add, Triad, Dot or Nstream)");
    const auto size = m.text("precision");
    const auto width = size == "double" ? 8 : size == "float" ? 4 : count_in(size, 64);
    const auto elements = count_in(m.text("elements"));
    for (const char* field : {"elements", "times"})
        if (!m.text(field).empty() && count_in(m.text(field)) == 0)
            return m.skip("its number of elements or repetitions is not positive");
    const double bytes = static_cast<double>(elements * width) * static_cast<double>(arrays);
    const auto times = count_in(m.text("times"));
    const auto together = number_of(m.text("together")); // the time of all calls of --triad-only
    const auto best = number_of(m.text("rate"));
    const auto unit = unit_in(m.text("rate.title"));
    if (!unit) return m.skip("unknown unit (expected MB/s, GiB/s, ...)");
    if (!best || !(*best > 0)) return m.skip("invalid bandwidth (expected a positive number)");
    const double rate = *best * unit->factor;
    auto least = printed_of(m.text("least"));
    if (together) least.reset();
    const auto most = number_of(m.text("most"));
    const auto printed = printed_of(m.text("mean"));
    const double mean = together && times > 0 ? *together / static_cast<double>(times)
                        : printed             ? printed->value
                                              : 0;
    if ((!together && (!printed || !least)) || !(mean >= 0))
        return m.skip("invalid times (expected seconds)");
    // CSV has all digits.
    const double half_digit = !least || m.text("format") == "CSV" ? 0 : least->half_digit;
    constexpr double rounding = 0.01; // of six digits, with room
    constexpr double coarse = 0.01;   // a mean that is known no better says nothing
    const double shortest = least ? least->value : mean;
    const bool is_coarse = half_digit > coarse * mean;
    if (!(mean > 0) && !is_coarse) return m.skip("invalid time (expected seconds above 0)");
    if (bytes > 0 && shortest > 0 &&
        !(std::abs(rate - bytes / shortest) <=
          (rounding + half_digit / shortest) * bytes / shortest))
        return m.skip("its bandwidth does not match its elements and time");
    // The first of them is not in the mean.
    if (times > 0 && (together || times > 1 || m.text("times.title").size() > 0))
        reading.calls = static_cast<std::uint64_t>(together || times == 1 ? times : times - 1);
    reading.extra.push_back({"best_bandwidth", rate});
    reading.headline = "best_bandwidth";
    if (!together)
        m.draft.note("the bandwidth is from the mean time; the tool's own, from the shortest time, "
                     "is kept as the highest bandwidth");
    if (is_coarse) {
        m.draft.note("times have too few digits for a mean: only the highest bandwidth is used");
        return true;
    }
    if (bytes > 0) {
        reading.headline = "bandwidth";
        reading.work = {{"bytes", bytes}};
    }
    if (together) reading.extra.clear();
    reading.seconds = mean;
    if (least && least->value > 0)
        reading.extra.insert(reading.extra.begin(), {"fastest_time", least->value});
    if (most && *most > 0) reading.extra.push_back({"slowest_time", *most});
    return true;
}

// --- HPL and HPL-MxP -------------------------------------------------------------------------------

Result<bool> make_linpack(Making& m) {
    constexpr std::int64_t largest = 1'000'000'000; // order of a matrix; the record has 3e7
    for (const char* name : {"n", "nb", "p", "q"})
        if (const auto text = m.text(name); !text.empty() && count_in(text, largest) == 0)
            return m.skip(fmt::format("invalid {} (expected a positive number)", name));
    const auto order = static_cast<double>(count_in(m.text("n"), largest));
    const auto rate = printed_of(m.text("gflops"), 1e9);
    const auto seconds = printed_of(m.text("seconds"));
    if (!rate || !(rate->value > 0) ||
        (!m.text("seconds").empty() && (!seconds || !(seconds->value >= 0))))
        return m.skip("expected a time and Gflops after N, NB, P and Q");
    // FLOP for solving a system of this order by elimination, as all of these programs count it.
    set_rate(m.reading,
             {.metric = "flop_rate",
              .work = "flops",
              .amount = (2.0 / 3.0 * order + 1.5) * order * order,
              .rate = *rate,
              .seconds = seconds},
             m.draft);
    return true;
}

// --- matrices of nvbandwidth and of Intel's Memory Latency Checker ---------------------------------

Result<bool> make_matrix(Making& m) {
    const auto description = m.text("description");
    const auto unit = unit_of(m.text("matrix_unit"));
    const bool has_head = !m.text("matrix").empty();
    auto lines = split(has_head ? m.text("matrix") : m.text("bandwidth_matrix"), "\n");
    if (lines.size() == 1 && trimmed(lines[0]).empty()) lines.clear();
    std::size_t columns = 0;
    if (has_head) {
        for (const auto word : words_of(lines.front())) columns += integer_of(word) ? 1 : 0;
        lines.erase(lines.begin());
    }
    if (lines.empty()) return m.skip("its matrix is missing or empty");
    if (!unit) return m.skip("missing unit in its title (expected (GB/s) or (ns))");
    // JSON has three matrices in a row for two directions: one way, the other way, and the total.
    const bool has_ways =
        !has_head && description.find("Total") != std::string_view::npos && lines.size() % 3 == 0;
    if (has_ways)
        lines.erase(lines.begin(),
                    lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 3 * 2));
    const auto title = [&](const char* field, const char* otherwise) {
        return std::string{m.text(field).empty() ? otherwise : m.text(field)};
    };
    record::Table table{.metric = unit->base == "s" ? "latency" : "bandwidth",
                        .unit = std::string{unit->base},
                        .row_title = title("rows", "row"),
                        .column_title = title("columns", "column")};
    double printed_sum = 0;
    double sum = 0;
    double most = 0;
    double least = HUGE_VAL;
    std::size_t count = 0;
    for (const auto line : lines) {
        auto words = words_of(line);
        if (has_head && !words.empty()) words.erase(words.begin());
        if (columns == 0) columns = words.size();
        if (words.size() != columns || columns == 0)
            return m.skip("a row of its matrix lacks values");
        table.rows.push_back(fmt::format("{}", table.rows.size()));
        for (const auto word : words) {
            const auto number = number_of(word);
            if (!number && word != "N/A")
                return m.skip(
                    fmt::format("invalid number in its matrix: {}", json::show_text(word)));
            printed_sum += number.value_or(0);
            table.values.push_back(number && *number > 0 ? std::optional{*number * unit->factor}
                                                         : std::nullopt);
            if (number && *number == 0)
                m.draft.note(
                    "cells of 0 were not measured and are left out of the mean of a matrix");
            if (!table.values.back()) continue;
            sum += *table.values.back();
            most = std::max(most, *table.values.back());
            least = std::min(least, *table.values.back());
            ++count;
        }
    }
    // Cells have two decimals, their sum more: a matrix that was cut does not make it.
    constexpr double half_digit = 0.006;
    const auto said = number_of(m.text("sum"));
    if (has_head && !m.text("sum").empty() &&
        (!said || !(std::abs(*said - printed_sum) <=
                    half_digit * static_cast<double>(table.values.size() + 1))))
        return m.skip(
            fmt::format("its cells add up to {:.2f}, not to the printed SUM", printed_sum));
    if (count == 0) return m.skip("its matrix has no positive value");
    if (table.row_title == "GPU" && table.column_title == "GPU" && table.rows.size() != columns)
        return m.skip(fmt::format("its matrix has {} of {} rows: it may be incomplete",
                                  table.rows.size(), columns));
    for (std::size_t i = 0; i < columns; ++i) table.columns.push_back(fmt::format("{}", i));
    m.reading.headline = table.metric;
    m.reading.extra = {{table.metric, sum / static_cast<double>(count)}};
    if (count == 1) return true;
    m.draft.note("the value of a matrix is the mean of its cells, not their sum");
    if (table.metric == "bandwidth") {
        m.reading.extra.push_back({"best_bandwidth", most});
    } else {
        m.reading.extra.push_back({"fastest_latency", least});
        m.reading.extra.push_back({"slowest_latency", most});
    }
    m.reading.table = std::move(table);
    return true;
}

// --- IOR -------------------------------------------------------------------------------------------
// Each repetition has a line of its own; the summary says what was asked, and the mean of their bandwidths.

double moved_by(const Fields& f) {
    double bytes = 1;
    for (const char* name : {"tasks", "segments", "block_bytes"}) {
        const auto number = bytes_of(text_of(f, name));
        bytes *= number.value_or(0);
    }
    // Where a time limit cut it short, each repetition did another amount.
    const auto moved = printed_of(text_of(f, "aggregate"), 0x1p20);
    constexpr double rounding = 1e-6;
    if (moved && !(std::abs(moved->value - bytes) <= moved->half_digit + rounding * bytes))
        return 0;
    return std::isfinite(bytes) && bytes > 0 ? bytes : 0;
}

/// Results of one test and one operation.
struct Measured {
    const Record* summary = nullptr;
    std::int64_t done = 0; ///< repetitions
};
const Measured& measured_of(Making& m) {
    using All = std::map<std::string, Measured, std::less<>>;
    const auto key = [](const Record& r) {
        return fmt::format("{} {}", text_of(r.fields, "test"), text_of(r.fields, "access"));
    };
    if (!m.output.memory) {
        const auto all = std::make_shared<All>();
        for (const auto& record : m.output.records) {
            auto& entry = (*all)[key(record)];
            if (text_of(record.fields, "kind") == "summary")
                entry.summary = &record;
            else if (number_of(text_of(record.fields, "rate")))
                ++entry.done;
        }
        m.output.memory = all;
    }
    return (*std::static_pointer_cast<All>(m.output.memory))[key(m.record)];
}

Result<bool> make_ior(Making& m) {
    const auto access = m.text("access");
    if (access != "write" && access != "read") return false; // removing has no bandwidth
    const bool is_summary = m.text("kind") == "summary";
    const auto& [summary, done] = measured_of(m);
    const auto asked = integer_of(m.text("repetitions")).value_or(1);
    if (is_summary) {
        if (moved_by(m.record.fields) > 0 && done > 0) return false; // each is a value
    } else if (summary == nullptr && m.text("block_bytes").empty()) {
        return m.skip("missing in \"Summary of all tests\": the output may be incomplete");
    } else if (summary != nullptr && moved_by(summary->fields) == 0) {
        return false; // the mean of the summary stands for them
    }
    const auto rate = printed_of(m.text("rate"), 0x1p20);
    const auto seconds = printed_of(m.text("seconds"));
    if (!rate || !(rate->value > 0) || (!is_summary && (!seconds || !(seconds->value >= 0))))
        return m.skip(fmt::format("invalid bandwidth or time: {} (expected a positive number)",
                                  json::show_text(m.text("rate"))));
    const auto& fields = is_summary || summary == nullptr ? m.record.fields : summary->fields;
    if (!is_summary) {
        if (done < asked)
            m.draft.note(
                fmt::format("{}: only {} of {} repetitions were done; each counts as a value",
                            access, done, asked));
        if (summary != nullptr && !number_of(text_of(summary->fields, "rate")))
            m.draft.note(fmt::format("{}: invalid mean {} in the summary was left out", access,
                                     json::show_text(text_of(summary->fields, "rate"))));
    }
    // A mean of several bandwidths does not follow from the mean of their times.
    set_rate(m.reading,
             {.metric = "bandwidth",
              .work = "bytes",
              .amount = moved_by(fields),
              .rate = *rate,
              .seconds = is_summary && asked > 1 ? std::nullopt : seconds},
             m.draft);
    const auto keep = [&](const char* field, const char* metric, double unit) {
        if (const auto value = printed_of(text_of(fields, field), unit);
            value && value->value > 0 && summary != nullptr)
            m.reading.extra.push_back({metric, value->value});
    };
    keep("operations", "file_operation_rate", 1);
    if (asked > 1) keep("fastest", "best_bandwidth", 0x1p20);
    if (asked > 1) keep("slowest", "worst_bandwidth", 0x1p20);
    return true;
}

} // namespace

Function function_named(std::string_view name) {
    static constexpr std::array functions{&make_kernel, &make_linpack, &make_matrix, &make_ior,
                                          &make_gbench, &make_llama,   &make_nccl};
    static_assert(functions.size() == function_names.size());
    const auto* const found = std::ranges::find(function_names, name);
    return functions.at(static_cast<std::size_t>(found - function_names.begin()));
}

} // namespace assay::imports
