// SPDX-License-Identifier: Apache-2.0
//
// What a collective would take on so many nodes, how sure that is, and what it rests on.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "predict/points.hpp"
#include "stats/alpha_beta.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::predict {

struct PredictOptions {
    Collective collective = Collective::allreduce;
    double nodes = 1;
    double ranks_per_node = 1;
    std::vector<double> sizes;            ///< bytes
    std::optional<Algorithm> algorithm;   ///< assumed; chosen by the data otherwise
    std::optional<double> node_bandwidth; ///< B/s, for the bound; as fitted otherwise
    std::vector<std::string> filter;
};

/// Latency and bandwidth of one kind of link on a range of sizes.
struct FittedLink {
    enum class Where : std::uint8_t { whole, within, between };
    Where where = Where::whole;       ///< whole: of the collective itself, no algorithm assumed
    stats::Estimate latency;          ///< seconds a message
    stats::Estimate seconds_per_byte; ///< 1 / bandwidth
};
ASSAY_NAMES(FittedLink::Where, "whole, within, between")
struct FittedSegment {
    double from = 0; ///< bytes
    double to = 0;
    std::size_t points = 0;
    std::string algorithm;             ///< in words
    std::vector<std::string> possible; ///< others that fit as well
    std::vector<FittedLink> links;
};

struct PredictedTime {
    double bytes = 0;
    stats::Estimate
        seconds{}; ///< low and high of all algorithms that fit as well; NaN where unknown
    double algorithm_rate = 0; ///< B/s
    double bus_rate = 0;       ///< B/s
    std::string algorithm;
    std::optional<double> most_bus_rate; ///< B/s: what the nodes' links allow, by any algorithm
};

struct PredictedCurve {
    std::string machine;
    std::string place;
    std::string library;
    std::string what;
    std::size_t runs = 0;
    std::size_t machines = 0; ///< that runs were started on
    std::size_t points = 0;
    double from = 0; ///< bytes
    double to = 0;
    std::vector<std::string> layouts; ///< "2 x 8": nodes and ranks on each
    double most_nodes = 0;            ///< that were measured
    double spread = 0;                ///< of single times about the fit, relative
    std::vector<FittedSegment> segments;
    std::vector<PredictedTime> times; ///< one for each size; none where `reason` says why
    std::vector<PredictedTime> line;  ///< the same at all sizes between, to be drawn
    std::string reason;
    std::vector<std::string> warnings;
};

/// A bound that no algorithm can beat with the node bandwidth that was given: known without any measurement.
struct HardBound {
    double node_bandwidth = 0;   ///< B/s
    double bus_rate = 0;         ///< B/s, at most
    std::vector<double> sizes;   ///< bytes
    std::vector<double> seconds; ///< at least, for each size
    bool operator==(const HardBound&) const = default;
};

struct Prediction {
    Collective collective = Collective::allreduce;
    double nodes = 1;
    double ranks_per_node = 1;
    bool bandwidth_given = false;
    std::optional<HardBound> bound; ///< over several nodes
    std::vector<PredictedCurve> curves;
    std::vector<store::Problem> not_used;
};
/// Fails for options that make no sense. A failed prediction is a curve with a reason.
Result<Prediction> predict_collective(const store::Collection& collection,
                                      const PredictOptions& options);

bool has_prediction(const Prediction& prediction);
/// Is a number of nodes, or a size, so far beyond what was measured that it is worth saying?
bool is_far(double asked, double measured);

} // namespace assay::predict
