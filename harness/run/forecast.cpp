// SPDX-License-Identifier: Apache-2.0
#include "run/forecast.hpp"

#include "record/metrics.hpp"
#include "record/noise.hpp"
#include "record/reader.hpp"
#include "record/summary.hpp"
#include "stats/fast_level.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace assay::run {
namespace {

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace

Forecast::Forecast(const std::vector<double>& expected_seconds, int replicas,
                   std::function<double()> now)
    : clock_{now ? std::move(now) : steady_seconds},
      total_{expected_seconds.size() * static_cast<std::size_t>(std::max(replicas, 0))},
      start_{clock_()} {
    for (const double seconds : expected_seconds)
        cases_.push_back({.left = replicas, .seconds = seconds});
}

void Forecast::skip(std::size_t index) { cases_[index].left = std::max(cases_[index].left - 1, 0); }

void Forecast::again(std::size_t index) {
    ++cases_[index].left;
    ++total_;
}

void Forecast::begin(std::size_t index) {
    present_ = index;
    begun_ = clock_();
}

void Forecast::end(std::size_t index) {
    cases_[index].seconds = clock_() - begun_;
    skip(index);
    present_.reset();
}

Forecast::Estimate Forecast::now() const {
    const double time = clock_();
    Estimate estimate{.steps_total = total_, .elapsed_seconds = time - start_};
    std::size_t left = 0;
    for (const auto& steps : cases_) {
        left += static_cast<std::size_t>(steps.left);
        estimate.remaining_seconds += steps.left * steps.seconds;
    }
    if (present_) // the part of the present step that is over, at most all of it
        estimate.remaining_seconds -= std::min(time - begun_, cases_[*present_].seconds);
    estimate.steps_done = total_ - left;
    return estimate;
}

// --- noise history -------------------------------------------------------------------------------

namespace {

/// Times of the undisturbed replicas, the faster the smaller.
std::vector<double> times_of(const record::Case& c) {
    const auto* metric = record::find_metric(c.headline);
    std::vector<double> times;
    if (metric == nullptr) return times;
    for (const auto& replica : c.replicas) {
        if (replica.status == record::Status::disturbed) continue;
        const auto value = record::headline_of(c, replica);
        if (value) times.push_back(metric->higher_is_better ? 1 / *value : *value);
    }
    return times;
}

} // namespace

void expect_own_noise(plan::Plan& plan, std::span<const std::filesystem::path> runs,
                      const record::Machine& machine) {
    constexpr int most_runs = 30;
    constexpr double worth = 6; // degrees of freedom: a case's noise changes from day to day
    struct Known {
        const plan::PlannedCase* planned;
        std::vector<std::vector<double>> runs;
    };
    std::map<std::string, Known> known;
    for (const auto& planned : plan.cases)
        if (planned.spread) known[record::identity(empty_case(planned))].planned = &planned;
    int read = 0;
    for (const auto& folder : runs) {
        if (known.empty() || read == most_runs) break;
        const auto run = record::read_run(folder / "run.json", {.values = false, .details = false});
        if (!run || run->pairing) continue; // variants differ on purpose
        ++read;
        for (const auto& c : run->cases) {
            const auto found = known.find(record::identity(c));
            if (found != known.end() && c.version == found->second.planned->benchmark->version)
                found->second.runs.push_back(times_of(c));
        }
    }
    for (auto& planned : plan.cases) {
        if (!planned.spread) continue;
        const auto c = empty_case(planned);
        const auto level = record::noise_level(to_string(planned.benchmark->noise),
                                               record::noise_place(c, machine));
        const auto own = stats::own_noise(known[record::identity(c)].runs, level.between_replicas);
        // Few runs know little of how runs differ.
        const auto between_runs = [&](const stats::OwnNoise& seen) {
            const double squares = level.degrees * level.between_runs * level.between_runs +
                                   seen.degrees * seen.between_runs * seen.between_runs;
            return std::sqrt(squares / (level.degrees + seen.degrees));
        };
        if (own)
            planned.spread = record::expected_spread({.between_replicas = own->between_replicas,
                                                      .between_runs = between_runs(*own),
                                                      .degrees = worth},
                                                     planned.protocol.target,
                                                     planned.spread->replicas, "history");
    }
}

} // namespace assay::run
