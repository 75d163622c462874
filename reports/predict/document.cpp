// SPDX-License-Identifier: Apache-2.0

#include "predict/document.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/chart.hpp"
#include "document/texts/predict.hpp"
#include "document/texts/words.hpp"
#include "document/texts/workbook.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace assay::predict {
namespace {

constexpr std::size_t not_used_shown = 8;

using namespace document;
using record::human;
using record::human_bytes;

std::string whole(double number) { return fmt::format("{:.0f}", number); }

std::string with_range(const std::string& value, const std::string& low, const std::string& high) {
    return say<text::predict::with_range>(value, low, high);
}

std::string latency_in_words(const stats::Estimate& latency) {
    if (!std::isfinite(latency.high))
        return latency.value > 0 ? human(latency.value, "s") : say<text::predict::not_seen>();
    if (!(latency.value > 0)) return say<text::predict::up_to>(human(latency.high, "s"));
    return with_range(human(latency.value, "s"), human(latency.low, "s"), human(latency.high, "s"));
}

/// The larger end of a bandwidth is the smaller one of its inverse, which may be 0.
std::string bandwidth_in_words(const stats::Estimate& per_byte) {
    const auto rate = [](double seconds) { return human(1 / seconds, "B/s"); };
    if (!(per_byte.value > 0))
        return std::isfinite(per_byte.high) && per_byte.high > 0
                   ? say<text::predict::from_on>(rate(per_byte.high))
                   : say<text::predict::not_seen>();
    if (!std::isfinite(per_byte.high)) return rate(per_byte.value);
    return with_range(rate(per_byte.value), rate(per_byte.high),
                      per_byte.low > 0 ? rate(per_byte.low) : "∞");
}

std::string where_in_words(FittedLink::Where where) {
    switch (where) {
    case FittedLink::Where::within:
        return say<text::predict::within>();
    case FittedLink::Where::between:
        return say<text::predict::between>();
    case FittedLink::Where::whole:
        break;
    }
    return say<text::predict::whole>();
}

std::string title_of(const Prediction& prediction) {
    const auto layout =
        say<text::predict::layout>(whole(prediction.nodes), whole(prediction.ranks_per_node));
    return say<text::predict::title>(to_string(prediction.collective), layout,
                                     whole(prediction.nodes * prediction.ranks_per_node));
}

std::string name_of(const PredictedCurve& curve) {
    return say<text::predict::of_curve>(curve.machine, curve.library, curve.what);
}

std::optional<double> finite(double value) {
    return std::isfinite(value) ? std::optional{value} : std::nullopt;
}

Cell number(const std::optional<double>& value, const char* unit) {
    if (!value || !std::isfinite(*value)) return {};
    return {.text = human(*value, unit), .number = value, .unit = unit};
}

Table times_of(const PredictedCurve& curve) {
    Table table{.caption = "",
                .columns = {{.title = say<text::predict::size>(), .numeric = true},
                            {.title = say<text::predict::time>(), .numeric = true},
                            {.title = say<text::predict::interval>(), .numeric = true},
                            {.title = say<text::predict::algorithm_rate>(), .numeric = true},
                            {.title = say<text::predict::bus_rate>(), .numeric = true},
                            {.title = say<text::predict::bound>(), .numeric = true},
                            {.title = say<text::predict::algorithm>(), .data = true},
                            {.title = say<text::predict::of_what>(), .data = true}},
                .sheet = say<text::workbook::figures>()};
    for (const auto& time : curve.times) {
        const auto& s = time.seconds;
        Cell seconds = number(s.value, "s");
        seconds.low = finite(s.low);
        seconds.high = finite(s.high);
        table.rows.push_back(
            {.cells = {number(time.bytes, "B"),
                       seconds,
                       {.text = std::isfinite(s.low) ? say<text::predict::range>(human(s.low, "s"),
                                                                                 human(s.high, "s"))
                                                     : std::string{}},
                       number(time.algorithm_rate, "B/s"),
                       number(time.bus_rate, "B/s"),
                       number(time.most_bus_rate, "B/s"),
                       {.text = time.algorithm},
                       {.text = name_of(curve)}}});
    }
    return table;
}

/// Basis of a curve: its data and scatter, then each range of sizes with the links fitted there.
std::vector<Block> basis_of(const PredictedCurve& curve) {
    std::vector<Block> lines;
    const auto add = [&](std::string text, const char* mark = "") {
        lines.emplace_back(Paragraph{.text = std::move(text), .mark = mark});
    };
    add(say<text::words::labelled>(
        say<text::predict::fitted_on>(),
        say<text::predict::fitted>(say_count<text::predict::times>(curve.points),
                                   say_count<text::predict::runs>(curve.runs),
                                   say_count<text::predict::machines>(curve.machines),
                                   human_bytes(curve.from), human_bytes(curve.to),
                                   join(curve.layouts))));
    if (std::isfinite(curve.spread))
        add(say<text::words::labelled>(say<text::predict::scatter>(),
                                       say<text::predict::about_fit>(fmt::format(
                                           "±{}", record::human_percent(curve.spread)))));
    for (const auto& segment : curve.segments) {
        const auto algorithm =
            segment.possible.empty()
                ? segment.algorithm
                : say<text::predict::or_>(segment.algorithm, join(segment.possible));
        add(say<text::predict::segment>(human_bytes(segment.from), human_bytes(segment.to),
                                        algorithm));
        for (const auto& link : segment.links)
            add(say<text::predict::link>(where_in_words(link.where), latency_in_words(link.latency),
                                         bandwidth_in_words(link.seconds_per_byte)),
                "-");
    }
    return lines;
}

/// How to read the values; where there are none, what the given bandwidth alone says.
std::vector<std::string> method_of(const Prediction& prediction) {
    std::vector<std::string> lines;
    if (!has_prediction(prediction)) {
        if (const auto& bound = prediction.bound) {
            lines.push_back(say<text::predict::no_faster>(human(bound->node_bandwidth, "B/s"),
                                                          human(bound->bus_rate, "B/s")));
            for (std::size_t i = 0; i < bound->sizes.size(); ++i)
                lines.back() =
                    sentences({lines.back(),
                               say<text::predict::takes_at_least>(human_bytes(bound->sizes[i]),
                                                                  human(bound->seconds[i], "s"))});
        }
        return lines;
    }
    const auto is_bounded = [](const PredictedCurve& curve) {
        return !curve.times.empty() && curve.times.front().most_bus_rate.has_value();
    };
    if (std::ranges::any_of(prediction.curves, is_bounded))
        lines.push_back(prediction.bandwidth_given ? say<text::predict::bound_given>()
                                                   : say<text::predict::bound_fitted>());
    lines.push_back(say<text::predict::next_run>());
    return lines;
}

/// Time by size, a curve for each machine and library.
Chart chart_of(const Prediction& prediction) {
    CurveChart data{.unit = "s",
                    .y_title = say<text::predict::time>(),
                    .x_title = say<text::predict::size>(),
                    .x_unit = "B",
                    .higher_is_better = false};
    for (const auto& curve : prediction.curves) {
        Curve line{.label = name_of(curve)};
        for (const auto& time : curve.line)
            if (time.bytes > 0 && std::isfinite(time.seconds.value) && time.seconds.value > 0)
                line.points.push_back({.x = time.bytes,
                                       .x_text = human_bytes(time.bytes),
                                       .y = time.seconds.value,
                                       .low = finite(time.seconds.low),
                                       .high = finite(time.seconds.high),
                                       .y_text = human(time.seconds.value, "s")});
        if (line.points.size() > 1) data.curves.push_back(std::move(line));
    }
    return {.title = say<text::chart::by>(data.y_title, data.x_title), .data = std::move(data)};
}

/// The longest message on the machine that is fastest at it.
const PredictedCurve* fastest_of(const Prediction& prediction) {
    const PredictedCurve* best = nullptr;
    for (const auto& curve : prediction.curves) {
        if (curve.times.empty() || !std::isfinite(curve.times.back().seconds.value)) continue;
        if (best == nullptr || curve.times.back().seconds.value < best->times.back().seconds.value)
            best = &curve;
    }
    return best;
}

std::string verdict_of(const Prediction& prediction) {
    if (prediction.curves.empty())
        return say<text::predict::cannot>(say<text::predict::nothing_measured>(
            fmt::format("collective.{}", to_string(prediction.collective))));
    const auto* best = fastest_of(prediction);
    if (best == nullptr) return say<text::predict::cannot>(prediction.curves.front().reason);
    const auto& time = best->times.back();
    const auto& s = time.seconds;
    const auto seconds = std::isfinite(s.low)
                             ? say<text::predict::with_interval>(
                                   human(s.value, "s"), human(s.low, "s"), human(s.high, "s"))
                             : human(s.value, "s");
    return say<text::predict::verdict>(to_string(prediction.collective), human_bytes(time.bytes),
                                       whole(prediction.nodes * prediction.ranks_per_node), seconds,
                                       human(time.bus_rate, "B/s"), name_of(*best));
}

/// How far the first sentence goes beyond what was measured, and what would make it surer.
std::vector<std::string> lead_of(const Prediction& prediction, const PredictedCurve& best) {
    auto lines = best.warnings;
    if (lines.empty()) lines.push_back(say<text::predict::inside>());
    if (is_far(prediction.nodes, best.most_nodes)) {
        const double between = std::sqrt(best.most_nodes * prediction.nodes);
        lines.push_back(say<text::predict::measure_nodes>(
            whole(std::exp2(std::ceil(std::log2(between)))),
            fmt::format("assay run collective.{} --hostfile hosts",
                        to_string(prediction.collective))));
    }
    return lines;
}

/// `first`: its warnings stand below the verdict.
Section section_of(const PredictedCurve& curve, bool first) {
    Section section{.title = name_of(curve)};
    if (!curve.reason.empty()) {
        section.blocks.emplace_back(
            Paragraph{.text = say<text::predict::cannot>(curve.reason), .tone = Tone::weak});
        return section;
    }
    Findings warnings;
    for (const auto& warning : first ? std::vector<std::string>{} : curve.warnings)
        warnings.findings.push_back({.severity = Severity::caution, .what = warning});
    section.blocks.emplace_back(times_of(curve));
    section.blocks.emplace_back(std::move(warnings));
    std::ranges::move(basis_of(curve), std::back_inserter(section.blocks));
    return section;
}

Section not_used_of(const Prediction& prediction) {
    Section section{.title = say<text::predict::not_used>()};
    Facts facts;
    for (const auto& problem : prediction.not_used) {
        if (facts.facts.size() == not_used_shown) break;
        facts.facts.push_back({plain(problem.where), translated(plain(problem.reason)), ""});
    }
    section.blocks.emplace_back(std::move(facts));
    if (prediction.not_used.size() > not_used_shown)
        section.blocks.emplace_back(Paragraph{
            .text = say<text::predict::and_more>(prediction.not_used.size() - not_used_shown)});
    return section;
}

} // namespace

Document make_document(const Prediction& prediction) {
    Document document{.kind = "prediction",
                      .kicker = say<text::predict::kicker>(),
                      .title = title_of(prediction),
                      .verdict = verdict_of(prediction),
                      .tone = has_prediction(prediction) ? Tone::plain : Tone::weak};
    auto chart = chart_of(prediction);
    if (!std::get<CurveChart>(chart.data).curves.empty())
        document.sections.push_back({.title = chart.title, .blocks = {chart}, .heading = false});
    const auto* const best = fastest_of(prediction);
    if (best != nullptr) document.lead = lead_of(prediction, *best);
    for (const auto& curve : prediction.curves)
        document.sections.push_back(section_of(curve, &curve == best));
    if (!prediction.not_used.empty()) document.sections.push_back(not_used_of(prediction));
    for (const auto& line : method_of(prediction))
        document.foot.push_back({.text = line, .tone = Tone::quiet});
    return document;
}

} // namespace assay::predict
