// SPDX-License-Identifier: Apache-2.0
//
// A collection taken apart: groups of machines, in each the series, in each the points of every machine
// in the order of time.

#pragma once

#include "base/result.hpp"
#include "history/history.hpp"
#include "record/summary.hpp"
#include "stats/difference.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::history {

/// Values of one series on one machine, in one state of it, on one day.
struct Sample {
    double seconds = 0; ///< of its first run
    /// Natural logarithm of how good it is: minus that of a latency.
    double good = 0;
    double value = 0;
    std::optional<double> low; ///< 95% interval of the value
    std::optional<double> high;
    /// Noise of `good`, by the replicas of its runs, and the variance expected between runs at different times.
    stats::VarianceEstimate replicas{.variance = 0, .degrees = 0};
    double between_runs = 0;
    std::vector<std::uint32_t> runs; ///< indices into Collection::runs
    std::uint32_t settings = 0;      ///< of the first run
};

struct Track {
    std::string machine;         ///< id; never empty
    std::vector<Sample> samples; ///< by time
    bool by_run = false;         ///< several runs, on too few days to have a sample for each day
};

/// Performance that one run of a guest delivered, under load too: over all of its replicas.
struct DeliveredRun {
    double seconds = 0;
    double good = 0;  ///< as in Sample
    double share = 0; ///< of the replicas that its value is made of
};

struct SeriesTracks {
    std::uint32_t series = 0;     ///< index into Collection::series
    record::NamedList conditions; ///< settled, without states of the machine, which may change
    std::vector<Track> tracks;    ///< by the time of their first sample
    /// One sample, the mean, of each machine: of all where machines follow one another, otherwise of
    /// those that have too few samples to be looked at by themselves.
    std::vector<Sample> machines;
    std::vector<DeliveredRun> delivered;
};

struct GroupTracks {
    std::string name;
    std::vector<std::uint32_t> runs; ///< by time
    std::vector<SeriesTracks> series;
};

struct Tracks {
    std::vector<GroupTracks> groups; ///< by name
    std::vector<store::Problem> not_used;
    std::vector<std::string> notes;
    record::Busy busy; ///< of all values, what disturbed those that are left out
};
Result<Tracks> make_tracks(const store::Collection& collection, const HistoryOptions& options);

/// From so many samples on a machine shows its own noise: two on either side of a change and one to spare. With fewer
/// the noise is what replicas differ by, and what the records expect between runs, as in a comparison of these runs.
inline constexpr std::size_t fewest_samples = 5;
/// A machine with fewer days of measurements has a point for each run instead of each day.
inline constexpr std::size_t fewest_days = 5;

} // namespace assay::history
