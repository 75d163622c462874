// SPDX-License-Identifier: Apache-2.0

#include "predict/points.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/predict.hpp"
#include "document/words.hpp"
#include "stats/student.hpp"
#include "store/alike.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace assay::report {
namespace {

/// Of a case: where a symbol ("all") stands for a number, the setting of that name has it.
std::optional<double> number_named(const Series& series, const record::NamedList& settings,
                                   std::string_view name) {
    const auto number = record::number(settings, name);
    return number ? number : record::number(series.parameters, name);
}

/// A published interval is Student's t over the replicas.
double log_error_of(const Observation& observation) {
    if (!observation.low || !observation.high || !(*observation.low > 0) ||
        !(*observation.high > *observation.low))
        return 0;
    const double half = std::log(*observation.high / *observation.low) / 2;
    const std::size_t replicas = counted(observation).size();
    constexpr double normal = 1.96;
    if (observation.scope != record::IntervalScope::between_replicas || replicas < 2)
        return half / normal;
    return half / stats::student_factor(static_cast<double>(replicas) - 1, 0.95);
}

class Sorting {
public:
    Sorting(const Collection& collection, Collective collective, const std::vector<Filter>& filters)
        : all_{collection}, collective_{collective}, filters_{filters},
          benchmark_{fmt::format("collective.{}", to_string(collective))} {}

    MeasuredCurves take() {
        for (const auto& observation : all_.observations) add(observation);
        for (auto& [key, curve] : curves_) {
            std::ranges::stable_sort(curve.points, {}, &TimedPoint::bytes);
            out_.curves.push_back(std::move(curve));
        }
        return std::move(out_);
    }

private:
    void add(const Observation& observation) {
        const auto& series = all_.series[observation.series];
        if (series.benchmark != benchmark_ || !observation.value) return;
        if (!std::ranges::all_of(filters_, [&](const Filter& f) { return f.admits(observation); }))
            return;
        const auto& settings = all_.settings[observation.settings];
        const auto bytes = number_named(series, settings, "message_bytes");
        const auto asked = number_named(series, settings, "bytes");
        const auto ranks = number_named(series, settings, "ranks");
        const auto nodes = number_named(series, settings, "machines");
        if (!ranks || !nodes || !(bytes ? bytes : asked)) {
            skip(observation, say<text::predict::incomplete>());
            return;
        }
        const double per_node = *ranks / *nodes;
        if (!(*ranks >= 2) || !(*nodes >= 1) || per_node != std::floor(per_node)) {
            skip(observation, say<text::predict::uneven>());
            return;
        }
        TimedPoint point{.bytes = bytes ? *bytes : *asked,
                         .nodes = *nodes,
                         .ranks_per_node = per_node,
                         .log_error = log_error_of(observation)};
        point.seconds = seconds_of(series, *observation.value, point.bytes, *ranks);
        if (!(point.seconds > 0) || !std::isfinite(point.seconds) || !(point.bytes > 0)) {
            skip(observation, say<text::predict::no_time>(series.metric));
            return;
        }
        auto& curve = curve_of(observation, series);
        curve.points.push_back(point);
        curve.runs.insert(observation.run);
        curve.machine_ids.insert(machine_of(observation).id);
    }

    double seconds_of(const Series& series, double value, double bytes, double ranks) const {
        if (series.unit == "s") return value;
        if (series.metric == "bus_bandwidth") return bytes * bus_factor(collective_, ranks) / value;
        if (series.metric == "algorithm_bandwidth") return bytes / value;
        return 0;
    }

    const record::Machine& machine_of(const Observation& observation) const {
        return all_.machines[all_.runs[observation.run].machine];
    }

    MeasuredCurve& curve_of(const Observation& observation, const Series& series) {
        const auto& machine = machine_of(observation);
        const bool named = !machine.instance.empty() && machine.instance != "unknown";
        record::Case rest;
        static constexpr std::array<std::string_view, 3> varied{"bytes", "ranks", "machines"};
        for (const auto& parameter : series.parameters)
            if (std::ranges::find(varied, parameter.name) == varied.end())
                rest.parameters.push_back(parameter);
        const auto kind = series.place == "host" || machine.devices.empty()
                              ? machine.cpu_model
                              : join(device_kinds(machine));
        // Those of the team and its messages are what a curve is over.
        record::NamedList state = series.conditions;
        std::erase_if(state, [](const record::Named& condition) {
            static constexpr std::array<std::string_view, 3> of_team{"machines", "ranks", "path"};
            return std::ranges::find(of_team, condition.name) != of_team.end();
        });
        const auto words = conditions_in_words(state);
        MeasuredCurve curve{
            .machine = plain(named ? machine.instance : kind),
            .place = plain(words.empty() ? series.place : series.place + " (" + words + ")"),
            .library = plain(series.library),
            .what = plain(parameters_in_words(rest))};
        const auto key =
            std::tuple{curve.machine, curve.place, curve.library, curve.what, series.version};
        return curves_.try_emplace(key, std::move(curve)).first->second;
    }

    void skip(const Observation& observation, std::string reason) {
        const auto& series = all_.series[observation.series];
        out_.not_used.push_back(
            {.where = plain(
                 fmt::format("{}: {}", all_.runs[observation.run].file.string(), series.what)),
             .reason = std::move(reason)});
    }

    const Collection& all_;
    Collective collective_;
    const std::vector<Filter>& filters_;
    std::string benchmark_;
    std::map<std::tuple<std::string, std::string, std::string, std::string, std::uint32_t>,
             MeasuredCurve>
        curves_;
    MeasuredCurves out_;
};

} // namespace

MeasuredCurves measured_curves(const Collection& collection, Collective collective,
                               const std::vector<Filter>& filters) {
    return Sorting{collection, collective, filters}.take();
}

} // namespace assay::report
