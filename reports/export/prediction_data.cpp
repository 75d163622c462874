// SPDX-License-Identifier: Apache-2.0

#include "export/prediction_data.hpp"

#include "json/json.hpp"
#include "predict/document.hpp"
#include "report/text.hpp"
#include "write/csv_line.hpp"

#include <array>
#include <cmath>
#include <optional>

namespace assay::report {
namespace {

using json::Value;
using write::CsvLine;

Value number(double value) { return std::isfinite(value) ? Value(value) : Value(nullptr); }
Value number(const std::optional<double>& value) { return value ? number(*value) : Value(nullptr); }

Value estimate(const stats::Estimate& e) {
    return {{"value", number(e.value)}, {"low", number(e.low)}, {"high", number(e.high)}};
}

const char* name_of(FittedLink::Where where) {
    switch (where) {
    case FittedLink::Where::within:
        return "within";
    case FittedLink::Where::between:
        return "between";
    case FittedLink::Where::whole:
        break;
    }
    return "whole";
}

Value segment(const FittedSegment& segment) {
    Value links = Value::array();
    for (const auto& link : segment.links)
        links.push_back({{"where", name_of(link.where)},
                         {"latency", estimate(link.latency)},
                         {"seconds_per_byte", estimate(link.seconds_per_byte)}});
    return {{"from", segment.from},         {"to", segment.to},
            {"points", segment.points},     {"algorithm", segment.algorithm},
            {"possible", segment.possible}, {"links", links}};
}

Value time(const PredictedTime& time) {
    return {{"bytes", time.bytes},
            {"seconds", estimate(time.seconds)},
            {"algorithm_bandwidth", number(time.algorithm_rate)},
            {"bus_bandwidth", number(time.bus_rate)},
            {"most_bus_bandwidth", number(time.most_bus_rate)},
            {"algorithm", time.algorithm}};
}

Value curve(const PredictedCurve& curve) {
    Value segments = Value::array();
    for (const auto& one : curve.segments) segments.push_back(segment(one));
    Value times = Value::array();
    for (const auto& one : curve.times) times.push_back(time(one));
    return {{"machine", curve.machine},
            {"place", curve.place},
            {"library", curve.library},
            {"what", curve.what},
            {"times", times},
            {"reason", curve.reason},
            {"warnings", curve.warnings},
            {"fitted_on",
             {{"runs", curve.runs},
              {"machines", curve.machines},
              {"points", curve.points},
              {"from", curve.from},
              {"to", curve.to},
              {"layouts", curve.layouts},
              {"spread", number(curve.spread)},
              {"segments", segments}}}};
}

} // namespace

std::string to_json(const Prediction& prediction) {
    Value curves = Value::array();
    for (const auto& one : prediction.curves) curves.push_back(curve(one));
    Value not_used = Value::array();
    for (const auto& problem : prediction.not_used)
        not_used.push_back({{"where", plain(problem.where)}, {"reason", plain(problem.reason)}});
    Value all{{"schema", "assay.predict/1"},
              {"verdict", make_document(prediction).verdict},
              {"collective", std::string{to_string(prediction.collective)}},
              {"nodes", prediction.nodes},
              {"ranks_per_node", prediction.ranks_per_node},
              {"node_bandwidth_given", prediction.bandwidth_given},
              {"curves", curves},
              {"not_used", not_used}};
    if (const auto& bound = prediction.bound)
        all["bound"] = {{"node_bandwidth", bound->node_bandwidth},
                        {"most_bus_bandwidth", bound->bus_rate},
                        {"sizes", bound->sizes},
                        {"least_seconds", bound->seconds}};
    return json::to_text(all);
}

std::string to_csv(const Prediction& prediction) {
    static constexpr std::array columns{"collective",
                                        "nodes",
                                        "ranks_per_node",
                                        "machine",
                                        "library",
                                        "case",
                                        "bytes",
                                        "seconds",
                                        "low",
                                        "high",
                                        "algorithm_bandwidth",
                                        "bus_bandwidth",
                                        "most_bus_bandwidth",
                                        "algorithm",
                                        "warnings"};
    std::string out;
    CsvLine head{out};
    for (const auto* name : columns) head.raw(name);
    head.end();
    const auto finite = [](double value) {
        return std::isfinite(value) ? std::optional{value} : std::nullopt;
    };
    for (const auto& curve : prediction.curves)
        for (const auto& time : curve.times) {
            CsvLine line{out};
            line.raw(to_string(prediction.collective)).number(prediction.nodes);
            line.number(prediction.ranks_per_node).text(curve.machine).text(curve.library);
            line.text(curve.what).number(time.bytes).number(finite(time.seconds.value));
            line.number(finite(time.seconds.low)).number(finite(time.seconds.high));
            line.number(time.algorithm_rate).number(time.bus_rate).number(time.most_bus_rate);
            line.text(time.algorithm).text(sentences(curve.warnings)).end();
        }
    return out;
}

} // namespace assay::report
