// SPDX-License-Identifier: Apache-2.0
//
// All metrics: unit, direction, and the amount of work of a rate (or, for a latency, the amount that shares
// the time). Units are
// defined only here; suites, modules and reports refer to metrics by name.

#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace assay::record {

struct MetricDefinition {
    std::string_view name;
    std::string_view unit;
    bool higher_is_better;
    std::string_view
        work; ///< amount per call: a rate is work / time, a lower-is-better metric is time / work; ""
              ///< for the time of a call and for values that the benchmark reports
    std::string_view title; ///< for people
    /// The substitute if a case does none of that work: integers have no FLOP.
    std::string_view instead;
    /// Zero is a valid value: nothing was lost. For all other metrics it is invalid.
    bool may_be_zero = false;
};

inline constexpr std::array metric_table{
    MetricDefinition{"time", "s", false, "", "time per call"},
    MetricDefinition{"flop_rate", "FLOP/s", true, "flops", "floating point rate", "operation_rate"},
    MetricDefinition{"operation_rate", "OP/s", true, "operations", "integer operation rate"},
    MetricDefinition{"bandwidth", "B/s", true, "bytes", "bandwidth"},
    MetricDefinition{"algorithm_bandwidth", "B/s", true, "algorithm_bytes", "algorithm bandwidth"},
    MetricDefinition{"bus_bandwidth", "B/s", true, "bus_bytes", "bus bandwidth"},
    MetricDefinition{"item_rate", "1/s", true, "items", "items per second"},
    MetricDefinition{"cell_rate", "cells/s", true, "cells", "cell updates per second"},
    MetricDefinition{"atom_step_rate", "atom-steps/s", true, "atom_steps", "atom steps per second"},
    MetricDefinition{"pair_rate", "pairs/s", true, "pairs", "pairs per second"},
    MetricDefinition{"latency", "s", false, "steps", "latency"},
    MetricDefinition{"fastest_latency", "s", false, "", "lowest latency"},
    MetricDefinition{"slowest_latency", "s", false, "", "highest latency"},
    // Second-level caches with two partitions.
    MetricDefinition{"near_latency", "s", false, "", "latency of the near partition"},
    MetricDefinition{"far_latency", "s", false, "", "latency of the far partition"},
    MetricDefinition{"far_share", "1", false, "", "share of far lines", "", true},
    MetricDefinition{"near_bandwidth", "B/s", true, "", "bandwidth of the near partition"},
    MetricDefinition{"far_bandwidth", "B/s", true, "", "bandwidth of the far partition"},
    // Single round trips, which the mean of a batch hides.
    MetricDefinition{"latency_p50", "s", false, "", "median latency"},
    MetricDefinition{"latency_p99", "s", false, "", "99th percentile of the latency"},
    MetricDefinition{"latency_p999", "s", false, "", "99.9th percentile of the latency"},
    // Other programs, as they report them.
    MetricDefinition{"latency_p95", "s", false, "", "95th percentile of the latency"},
    MetricDefinition{"iops", "1/s", true, "", "I/O operations per second"},
    MetricDefinition{"jitter", "s", false, "", "jitter", "", true},
    MetricDefinition{"loss", "1", false, "", "share of packets lost", "", true},
    MetricDefinition{"retransmits", "1", false, "", "segments sent again", "", true},
    MetricDefinition{"sent_bandwidth", "B/s", true, "", "bandwidth of the sender"},
    MetricDefinition{"reverse_bandwidth", "B/s", true, "", "bandwidth of the other direction"},
    MetricDefinition{"sign_rate", "1/s", true, "", "signatures per second"},
    MetricDefinition{"check_rate", "1/s", true, "", "signatures checked per second"},
    MetricDefinition{"update_rate", "updates/s", true, "", "random updates per second"},
    MetricDefinition{"fft_flop_rate", "FLOP/s", true, "", "floating point rate of the FFT"},
    MetricDefinition{"simulation_rate", "ns/day", true, "", "simulated time per day"},
    MetricDefinition{"psnr", "dB", true, "", "peak signal to noise ratio"},
    MetricDefinition{"iteration_time", "s", false, "", "time per iteration"},
    MetricDefinition{"cpu_time", "s", false, "", "CPU time per iteration"},
    MetricDefinition{"score", "1", true, "", "score"},
    MetricDefinition{"clock", "Hz", true, "", "clock of a core"},
    MetricDefinition{"slowest_clock", "Hz", true, "", "clock of the slowest core"},
    MetricDefinition{"translation_latency", "s", false, "", "latency of address translation", "",
                     true},
    MetricDefinition{"worst_bandwidth", "B/s", true, "", "lowest bandwidth"},
    MetricDefinition{"background_bandwidth", "B/s", true, "", "bandwidth of the other cores"},
    // Messages that go on while their ranks compute.
    MetricDefinition{"exposed_time", "s", false, "", "time not hidden by computation"},
    MetricDefinition{"overlap", "1", true, "", "share hidden by computation", "", true},
    MetricDefinition{"planning_time", "s", false, "", "planning time"},
    // Calls that follow each other in one CUDA graph, where a single call is short.
    MetricDefinition{"time_back_to_back", "s", false, "", "time per call, back to back"},
    // If energy was counted in the window: see summary.hpp.
    MetricDefinition{"energy", "J", false, "", "energy per call"},
    MetricDefinition{"flop_rate_per_watt", "FLOP/s/W", true, "", "floating point rate per watt"},
    MetricDefinition{"operation_rate_per_watt", "OP/s/W", true, "",
                     "integer operation rate per watt"},
    MetricDefinition{"bandwidth_per_watt", "B/s/W", true, "", "bandwidth per watt"},
    MetricDefinition{"item_rate_per_watt", "1/J", true, "", "items per joule"},
    // Cases that are measured at the same time.
    MetricDefinition{"slowest_sibling", "1", true, "",
                     "slowest of those measured at once / median"},
    MetricDefinition{"together_to_alone", "1", true, "", "speed together / alone"},
    MetricDefinition{"late_to_early", "1", true, "", "rate of a hot machine / of a cool one"},
    // For other tools' results, which have extremes but not the values between.
    MetricDefinition{"fastest_time", "s", false, "", "shortest time of a call"},
    MetricDefinition{"slowest_time", "s", false, "", "longest time of a call"},
    MetricDefinition{"best_bandwidth", "B/s", true, "", "highest bandwidth"},
    // Language models, their servers, and storage, which other tools measure.
    MetricDefinition{"token_rate", "tokens/s", true, "tokens", "tokens per second"},
    MetricDefinition{"total_token_rate", "tokens/s", true, "",
                     "input and output tokens per second"},
    MetricDefinition{"request_rate", "requests/s", true, "", "requests per second"},
    MetricDefinition{"sample_rate", "samples/s", true, "", "samples per second"},
    MetricDefinition{"first_token_time", "s", false, "", "time to the first token"},
    MetricDefinition{"first_token_time_p50", "s", false, "", "median time to the first token"},
    MetricDefinition{"first_token_time_p99", "s", false, "",
                     "99th percentile of the time to the first token"},
    MetricDefinition{"token_time", "s", false, "", "time per output token"},
    MetricDefinition{"token_time_p50", "s", false, "", "median time per output token"},
    MetricDefinition{"token_time_p99", "s", false, "",
                     "99th percentile of the time per output token"},
    MetricDefinition{"inter_token_time", "s", false, "", "time between tokens"},
    MetricDefinition{"inter_token_time_p50", "s", false, "", "median time between tokens"},
    MetricDefinition{"inter_token_time_p99", "s", false, "",
                     "99th percentile of the time between tokens"},
    MetricDefinition{"latency_p90", "s", false, "", "90th percentile of the latency"},
    MetricDefinition{"file_operation_rate", "operations/s", true, "", "file operations per second"},
    MetricDefinition{"best_file_operation_rate", "operations/s", true, "",
                     "highest rate of file operations"},
    MetricDefinition{"worst_file_operation_rate", "operations/s", true, "",
                     "lowest rate of file operations"},
};

/// Names that a benchmark may give its items, for the unit of their rate: "keys".
constexpr bool is_item_name(std::string_view name) {
    constexpr std::size_t longest = 30;
    for (const char c : name)
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-') return false;
    return !name.empty() && name.size() <= longest;
}

constexpr const MetricDefinition* find_metric(std::string_view name) {
    for (const auto& metric : metric_table)
        if (metric.name == name) return &metric;
    return nullptr;
}

} // namespace assay::record
