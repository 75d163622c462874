// SPDX-License-Identifier: Apache-2.0

#include "store/digest.hpp"

#include "base/console.hpp"
#include "base/hash.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/texts/store.hpp"
#include "record/conditions.hpp"
#include "record/metrics.hpp"
#include "record/noise.hpp"
#include "record/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

namespace assay::store {

using namespace document;
namespace {

bool shows(record::Status status) { return is_measured(status); }

/// Whole numbers are whole numbers: tools that rewrite JSON make 2 of 2.0.
void settle(record::NamedList& list) {
    constexpr double exact = 0x1p53; // up to here every whole number is a double
    for (auto& [name, value] : list)
        if (const auto* real = std::get_if<double>(&value))
            if (std::fabs(*real) < exact && *real == std::floor(*real))
                value = static_cast<std::int64_t>(*real);
}

/// Parameters that benchmarks got behind their others, and what every case before had: what was measured is the same, so
/// older files belong to the same series.
void add_later_parameters(record::Case& c) {
    struct Later {
        std::string_view benchmark;
        const char* name;
        record::Value before;
    };
    static const std::array later{Later{"workload.attention", "group", std::int64_t{1}},
                                  Later{"workload.transformer_layer", "pass", "forward"},
                                  Later{"peak.tensor", "sparsity", "none"}};
    for (const auto& [benchmark, name, before] : later)
        if (c.benchmark == benchmark && record::find(c.parameters, name) == nullptr)
            c.parameters.push_back({name, before});
    if (c.benchmark == "peak.tensor" && record::find(c.parameters, "accumulation") == nullptr) {
        const bool is_fp8 = record::text(c.parameters, "precision").starts_with("fp8");
        c.parameters.push_back({"accumulation", is_fp8 && c.library == "cuda" ? "fast" : "exact"});
    }
}

std::optional<double> figure(const std::optional<double>& value) {
    return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

std::string words_of(decide::ValueProblem problem, const record::Case& c,
                     const decide::Series& series) {
    using Problem = decide::ValueProblem;
    const auto no_value = [&] {
        return say<text::store::no_value>(record::to_string(c.status), series.metric);
    };
    if (c.metrics.empty()) return problem == Problem::none ? std::string{} : no_value();
    const record::Metric& first = c.metrics.front();
    switch (problem) {
    case Problem::none:
        return {};
    case Problem::no_value:
        return no_value();
    case Problem::other_metric:
        return say<text::store::other_metric>(series.metric, first.name);
    case Problem::other_unit:
        return say<text::store::other_unit>(series.metric, first.unit, series.unit);
    case Problem::direction:
        return say<text::store::higher_or_lower>(series.metric);
    case Problem::not_positive:
        return say<text::store::not_positive>(series.metric, *first.value);
    }
    return {};
}

/// A failed check outweighs what the status says.
void judge(record::Case& c) {
    if (!shows(c.status) || !c.verification || c.verification->passed) return;
    c.status = record::Status::incorrect;
    c.reason = std::move(c.verification->detail);
}

/// Times of one form are compared as texts. Replicas of a case are measured in the order of their index.
double strayed_seconds(const record::Run& run) {
    std::string_view first = run.started;
    std::string_view last = run.ended;
    if (first.empty() || last.empty()) return 0;
    const auto between = [](std::string_view from, std::string_view to) {
        if (from >= to) return 0.0;
        const auto begin = seconds_of(from);
        const auto end = seconds_of(to);
        return begin && end ? *end - *begin : 0.0;
    };
    double back = 0;
    for (const auto& c : run.cases) {
        std::string_view before;
        for (const auto& replica : c.replicas) {
            if (replica.started.empty()) continue;
            first = std::min<std::string_view>(first, replica.started);
            last = std::max<std::string_view>(last, replica.started);
            if (!before.empty()) back = std::max(back, between(replica.started, before));
            before = replica.started;
        }
    }
    return std::max({back, between(first, run.started), between(run.ended, last)});
}

RunInfo info_of(record::Run& run) {
    // Measured anew in every run: would make each of them a machine of its own.
    const auto core_clock_hz = std::exchange(run.machine.core_clock_hz, std::nullopt);
    run.machine.platform.swap_used_bytes.reset();
    run.machine.platform.results_free_bytes.reset();
    const auto strayed =
        std::max(strayed_seconds(run), run.clock ? std::abs(run.clock->step_seconds) : 0.0);
    return {.id = std::move(run.id),
            .suite = std::move(run.suite),
            .started = run.started,
            .ended = std::move(run.ended),
            .started_seconds = seconds_of(run.started).value_or(0),
            .status = run.status,
            .partial = run.status == "interrupted",
            .version = std::move(run.version),
            .build = plain(run.build, 64),
            .digest = std::move(run.digest),
            .campaign = std::move(run.campaign),
            .tags = std::move(run.tags),
            .error_counters = std::move(run.error_counters),
            .core_clock_hz = figure(core_clock_hz),
            .pairing = std::move(run.pairing),
            .gates = run.schedule ? run.schedule->gates : std::nullopt,
            .soak = std::move(run.soak),
            .strayed_seconds = strayed,
            .clock = run.clock};
}

} // namespace

Digester::Digester(record::Run run, const MetricChoice& choice)
    : digest_{.run = info_of(run)}, machine_{std::move(run.machine)} {
    const auto& machine = machine_.value;
    for (auto& c : run.cases) {
        judge(c);
        const bool is_shown = shows(c.status);
        add_later_parameters(c);
        settle(c.parameters);
        auto series = decide::series_of(c, machine);
        std::vector<MetricKind> others;
        const auto problem = decide::problem_of(c, series);
        const bool has_value = is_shown && problem == decide::ValueProblem::none;
        CaseDigest digest{.seen = decide::observation_of(c, machine, has_value),
                          .problem = is_shown ? words_of(problem, c, series) : std::string{}};
        if (has_value) {
            for (auto& other : other_metrics(c)) {
                if (choice.other(other))
                    digest.values.push_back(std::move(static_cast<MetricValues&>(other)));
                others.push_back(std::move(static_cast<MetricKind&>(other)));
            }
        }
        digest_.cases.push_back(std::move(digest));
        series_.emplace_back(std::move(series));
        settings_.emplace_back(std::move(c.settings));
        others_.emplace_back(std::move(others));
    }
}

RunDigest Digester::finish(Pools& pools) {
    digest_.run.machine = pools.machines.add(std::move(machine_));
    for (std::size_t i = 0; i < digest_.cases.size(); ++i) {
        auto& c = digest_.cases[i];
        c.seen.series = pools.series.add(std::move(series_[i]));
        c.seen.settings = pools.settings.add(std::move(settings_[i]));
        c.others = pools.others.add(std::move(others_[i]));
    }
    return std::move(digest_);
}

} // namespace assay::store
