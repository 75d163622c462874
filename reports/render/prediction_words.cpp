// SPDX-License-Identifier: Apache-2.0

#include "render/prediction_words.hpp"

#include "language/language.hpp"
#include "model/text.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace assay::report {
namespace {

constexpr std::size_t not_used_shown = 8;

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

void drop_empty_columns(TimesTable& table) {
    for (std::size_t i = table.titles.size(); i-- > 0;) {
        const auto is_empty = [&](const auto& row) { return row[i].empty(); };
        if (!std::ranges::all_of(table.rows, is_empty)) continue;
        const auto at = static_cast<std::ptrdiff_t>(i);
        table.titles.erase(table.titles.begin() + at);
        for (auto& row : table.rows) row.erase(row.begin() + at);
    }
}

} // namespace

std::string title_in_words(const Prediction& prediction) {
    const auto layout =
        say<text::predict::layout>(whole(prediction.nodes), whole(prediction.ranks_per_node));
    return say<text::predict::title>(to_string(prediction.collective), layout,
                                     whole(prediction.nodes * prediction.ranks_per_node));
}

std::string name_in_words(const PredictedCurve& curve) {
    return say<text::predict::of_curve>(curve.machine, curve.library, curve.what);
}

TimesTable times_in_words(const PredictedCurve& curve) {
    TimesTable table{.titles = {say<text::predict::size>(), say<text::predict::time>(),
                                say<text::predict::interval>(),
                                say<text::predict::algorithm_rate>(),
                                say<text::predict::bus_rate>(), say<text::predict::bound>()},
                     .rows = {}};
    for (const auto& time : curve.times) {
        const auto& s = time.seconds;
        table.rows.push_back(
            {human_bytes(time.bytes), human(s.value, "s"),
             std::isfinite(s.low) ? say<text::predict::range>(human(s.low, "s"), human(s.high, "s"))
                                  : std::string{},
             human(time.algorithm_rate, "B/s"), human(time.bus_rate, "B/s"),
             time.most_bus_rate ? human(*time.most_bus_rate, "B/s") : std::string{}});
    }
    drop_empty_columns(table);
    return table;
}

std::vector<BasisLine> basis_in_words(const PredictedCurve& curve) {
    std::vector<BasisLine> lines;
    lines.push_back({say<text::words::labelled>(
        say<text::predict::fitted_on>(),
        say<text::predict::fitted>(say_count<text::predict::times>(curve.points),
                                   say_count<text::predict::runs>(curve.runs),
                                   say_count<text::predict::machines>(curve.machines),
                                   human_bytes(curve.from), human_bytes(curve.to),
                                   join(curve.layouts)))});
    if (std::isfinite(curve.spread))
        lines.push_back({say<text::words::labelled>(
            say<text::predict::scatter>(), say<text::predict::about_fit>(fmt::format(
                                               "±{}", record::human_percent(curve.spread))))});
    for (const auto& segment : curve.segments) {
        const auto algorithm =
            segment.possible.empty()
                ? segment.algorithm
                : say<text::predict::or_>(segment.algorithm, join(segment.possible));
        lines.push_back({say<text::predict::segment>(human_bytes(segment.from),
                                                     human_bytes(segment.to), algorithm)});
        for (const auto& link : segment.links)
            lines.push_back({say<text::predict::link>(where_in_words(link.where),
                                                      latency_in_words(link.latency),
                                                      bandwidth_in_words(link.seconds_per_byte)),
                             true});
    }
    return lines;
}

std::string nothing_in_words(const Prediction& prediction) {
    if (!prediction.curves.empty()) return {};
    return say<text::predict::cannot>(say<text::predict::nothing_measured>(
        fmt::format("collective.{}", to_string(prediction.collective))));
}

std::vector<std::string> method_in_words(const Prediction& prediction) {
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

NotUsedWords not_used_in_words(const Prediction& prediction) {
    NotUsedWords out;
    const std::size_t count = prediction.not_used.size();
    for (std::size_t i = 0; i < std::min(count, not_used_shown); ++i)
        out.shown.push_back({.where = plain(prediction.not_used[i].where),
                             .reason = plain(prediction.not_used[i].reason)});
    if (count > not_used_shown) out.more = say<text::predict::and_more>(count - not_used_shown);
    return out;
}

} // namespace assay::report
