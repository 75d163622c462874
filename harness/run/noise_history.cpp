// SPDX-License-Identifier: Apache-2.0
#include "run/noise_history.hpp"

#include "record/metrics.hpp"
#include "record/noise.hpp"
#include "record/reader.hpp"
#include "record/summary.hpp"
#include "stats/fast_level.hpp"

#include <map>
#include <string>
#include <vector>

namespace assay::harness {
namespace {

/// Of the undisturbed replicas, the faster the smaller.
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

void expect_own_noise(Plan& plan, std::span<const std::filesystem::path> runs,
                      const record::Machine& machine) {
    constexpr int most_runs = 30;
    constexpr double worth = 6; // degrees of freedom: a case's noise changes from day to day
    struct Known {
        const PlannedCase* planned;
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
        if (own)
            planned.spread = record::expected_spread({.between_replicas = own->between_replicas,
                                                      .between_runs = own->between_runs,
                                                      .degrees = worth},
                                                     planned.protocol.target,
                                                     planned.spread->replicas, "history");
    }
}

} // namespace assay::harness
