// SPDX-License-Identifier: Apache-2.0
#include "cli/noise.hpp"

#include "plan/suite.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::cli {
namespace {

using Series = std::vector<stats::Quantum> harness::CoreWatch::*;

std::vector<std::vector<stats::Quantum>> of_all_cores(const harness::NoiseProfile& profile,
                                                      Series series) {
    std::vector<std::vector<stats::Quantum>> all;
    for (const auto& core : profile.cores) all.push_back(core.*series);
    return all;
}

/// Of every core, relative to its own usual time, so that different kinds of cores can be combined.
stats::Jitter jitter_of_all(const harness::NoiseProfile& profile, Series series) {
    std::vector<stats::Quantum> all;
    for (const auto& core : profile.cores)
        all.insert(all.end(), (core.*series).begin(), (core.*series).end());
    return stats::jitter_of(all);
}

std::string expectation_text(const stats::Expectation& expected) {
    if (std::isnan(expected.usual)) return "unknown: measure for longer (--seconds)";
    return fmt::format("±{} (one run in ten: more than ±{}; two runs differ by up to {})",
                       record::human_percent(expected.usual),
                       record::human_percent(expected.one_in_ten),
                       record::human_percent(expected.difference));
}

constexpr std::array bin_names{"below 0.1%", "0.1 to 1%",   "1 to 10%",  "10 to 100%",
                               "1 to 10 x",  "10 to 100 x", "over 100 x"};

/// "▇▇▇▇": logarithmic, because a single long pause matters and a million short ones are normal.
std::string bar(std::uint64_t count, std::uint64_t total) {
    constexpr double full = 24; // columns
    if (count == 0) return "";
    const double share =
        std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(total));
    std::string text;
    for (int i = 0; i < std::max(1, static_cast<int>(std::lround(full * share))); ++i) text += "▇";
    return text;
}

void add_histogram(std::vector<NoiseLine>& lines, const char* title, const stats::Jitter& jitter) {
    lines.push_back({title, fmt::format("{} work units of {}; median +{}, 99th percentile +{}, "
                                        "longest {}; {} of the time lost. Units by excess time:",
                                        jitter.count, record::human(jitter.usual, "s"),
                                        record::human_percent(jitter.median / jitter.usual - 1),
                                        record::human_percent(jitter.p99 / jitter.usual - 1),
                                        record::human(jitter.longest, "s"),
                                        record::human_percent(jitter.lost))});
    for (std::size_t i = 0; i < jitter.bins.size(); ++i) {
        const auto& bin = jitter.bins.at(i);
        if (bin.count == 0) continue;
        lines.push_back(
            {bin_names.at(i), fmt::format("{} {}", bin.count, bar(bin.count, jitter.count))});
    }
}

std::string share_text(const std::optional<double>& share) {
    return share ? record::human_percent(*share) : "an unknown share";
}

} // namespace

std::vector<NoiseExpectation> noise_expectations(const harness::NoiseProfile& profile) {
    std::vector<NoiseExpectation> expectations;
    for (const char* name : {"quick", "standard"})
        if (const auto suite = harness::read_suite(harness::find_suite(name)))
            expectations.push_back({.suite = name,
                                    .replicas = static_cast<std::size_t>(suite->replicas),
                                    .window_seconds = suite->protocol.min_seconds});
    const auto arithmetic = of_all_cores(profile, &harness::CoreWatch::arithmetic);
    const auto memory = of_all_cores(profile, &harness::CoreWatch::memory);
    for (auto& expected : expectations) {
        const auto expect = [&](const auto& cores) {
            return stats::expectation_of(stats::window_levels(cores, expected.window_seconds),
                                         expected.replicas);
        };
        expected.arithmetic = expect(arithmetic);
        expected.memory = expect(memory);
    }
    return expectations;
}

std::vector<NoiseLine> noise_lines(const harness::NoiseProfile& profile) {
    std::vector<NoiseLine> lines;
    lines.push_back(
        {"measured", fmt::format("{} core{} for {:g} s", profile.cores.size(),
                                 profile.cores.size() == 1 ? "" : "s", profile.seconds)});
    add_histogram(lines, "arithmetic", jitter_of_all(profile, &harness::CoreWatch::arithmetic));
    add_histogram(lines, "memory", jitter_of_all(profile, &harness::CoreWatch::memory));
    const auto& clock = profile.clock;
    lines.push_back(
        {"clock", fmt::format("{}, between {} and {}", record::human(clock.median, "Hz"),
                              record::human(clock.low, "Hz"), record::human(clock.high, "Hz"))});
    lines.push_back({"others", fmt::format("other programs used {} of the CPU time, the hypervisor "
                                           "took {}",
                                           share_text(profile.telemetry.foreign_cpu),
                                           share_text(profile.telemetry.steal))});
    for (const auto& sentence : profile.telemetry.disturbances) lines.push_back({"", sentence});
    for (const auto& expected : noise_expectations(profile)) {
        lines.push_back(
            {expected.suite, "expect for arithmetic " + expectation_text(expected.arithmetic)});
        lines.push_back({"", "expect for memory " + expectation_text(expected.memory)});
    }
    lines.push_back(
        {"", "These are lower limits: neighbours that come and go over minutes are not seen."});
    return lines;
}

json::Value noise_json(const harness::NoiseProfile& profile) {
    const auto number = [](double value) {
        return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
    };
    const auto jitter = [&](Series series) {
        const auto found = jitter_of_all(profile, series);
        json::Value bins = json::Value::array();
        for (const auto& bin : found.bins)
            bins.push_back({{"longer_by_at_least", bin.from},
                            {"count", bin.count},
                            {"lost_seconds", bin.lost_seconds}});
        return json::Value{{"count", found.count},
                           {"usual_seconds", found.usual},
                           {"median_seconds", found.median},
                           {"p99_seconds", found.p99},
                           {"longest_seconds", found.longest},
                           {"lost_share", found.lost},
                           {"histogram", std::move(bins)}};
    };
    const auto optional = [](const std::optional<double>& value) {
        return value ? json::Value(*value) : json::Value(nullptr);
    };
    const auto expectation = [&](const stats::Expectation& expected) {
        return json::Value{{"half_width", number(expected.usual)},
                           {"half_width_one_in_ten", number(expected.one_in_ten)},
                           {"difference", number(expected.difference)}};
    };
    json::Value expectations = json::Value::array();
    for (const auto& expected : noise_expectations(profile))
        expectations.push_back({{"suite", expected.suite},
                                {"replicas", expected.replicas},
                                {"window_seconds", expected.window_seconds},
                                {"arithmetic", expectation(expected.arithmetic)},
                                {"memory", expectation(expected.memory)}});
    json::Value cpus = json::Value::array();
    for (const auto& core : profile.cores) cpus.push_back(core.cpu);
    return {{"seconds", profile.seconds},
            {"cpus", std::move(cpus)},
            {"arithmetic", jitter(&harness::CoreWatch::arithmetic)},
            {"memory", jitter(&harness::CoreWatch::memory)},
            {"clock_hz",
             {{"low", profile.clock.low},
              {"median", profile.clock.median},
              {"high", profile.clock.high}}},
            {"foreign_cpu", optional(profile.telemetry.foreign_cpu)},
            {"steal", optional(profile.telemetry.steal)},
            {"disturbances", profile.telemetry.disturbances},
            {"expect", std::move(expectations)}};
}

} // namespace assay::cli
