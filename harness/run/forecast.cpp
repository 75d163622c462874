// SPDX-License-Identifier: Apache-2.0
#include "run/forecast.hpp"

#include <algorithm>
#include <utility>

namespace assay::harness {
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

} // namespace assay::harness
