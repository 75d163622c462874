// SPDX-License-Identifier: Apache-2.0

#include "document/text.hpp"
#include "json/codec.hpp"
#include "predict/document.hpp"
#include "write/csv_line.hpp"

#include <cmath>
#include <optional>

namespace assay::stats {

ASSAY_FIELDS(Estimate, value, low, high)

} // namespace assay::stats

namespace assay::predict {
namespace {

using write::CsvLine;

json::Value not_used_of(const Prediction& prediction) {
    json::Value list = json::Value::array();
    for (const auto& problem : prediction.not_used)
        list.push_back({{"where", plain(problem.where)}, {"reason", plain(problem.reason)}});
    return list;
}

/// Inputs that times follow from.
struct Fit {
    const PredictedCurve& of;
};
ASSAY_FIELDS(Fit, (record.of.runs, "runs"), (record.of.machines, "machines"),
             (record.of.points, "points"), (record.of.from, "from"), (record.of.to, "to"),
             (record.of.layouts, "layouts"), (record.of.spread, "spread"),
             (record.of.segments, "segments"))

} // namespace

ASSAY_FIELDS(FittedLink, where, latency, seconds_per_byte)
ASSAY_FIELDS(FittedSegment, from, to, points, algorithm, possible, links)
ASSAY_FIELDS(PredictedTime, bytes, seconds, (record.algorithm_rate, "algorithm_bandwidth"),
             (record.bus_rate, "bus_bandwidth"), (record.most_bus_rate, "most_bus_bandwidth"),
             algorithm)
ASSAY_FIELDS(PredictedCurve, machine, place, library, what, times, reason, warnings,
             (Fit{record}, "fitted_on"))
ASSAY_FIELDS(HardBound, node_bandwidth, (record.bus_rate, "most_bus_bandwidth"), sizes,
             (record.seconds, "least_seconds"))
ASSAY_FIELDS(Prediction, ("assay.predict/1", "schema"), (make_document(record).verdict, "verdict"),
             collective, nodes, ranks_per_node, (record.bandwidth_given, "node_bandwidth_given"),
             curves, (not_used_of(record), "not_used"), bound)

} // namespace assay::predict

template <>
inline constexpr bool assay::json::is_sparse<std::optional<assay::predict::HardBound>> = true;

namespace assay::predict {

std::string to_json(const Prediction& prediction) {
    return json::to_text(json::encode(prediction));
}

std::string to_csv(const Prediction& prediction) {
    std::string out{"collective,nodes,ranks_per_node,machine,library,case,bytes,seconds,low,high,"
                    "algorithm_bandwidth,bus_bandwidth,most_bus_bandwidth,algorithm,warnings\r\n"};
    const auto finite = [](double value) {
        return std::isfinite(value) ? std::optional{value} : std::nullopt;
    };
    for (const auto& curve : prediction.curves)
        for (const auto& time : curve.times) {
            CsvLine line{out};
            line.cells(prediction.collective, prediction.nodes, prediction.ranks_per_node,
                       curve.machine, curve.library, curve.what, time.bytes,
                       finite(time.seconds.value), finite(time.seconds.low),
                       finite(time.seconds.high), time.algorithm_rate, time.bus_rate,
                       time.most_bus_rate, time.algorithm, document::sentences(curve.warnings));
            line.end();
        }
    return out;
}

} // namespace assay::predict
