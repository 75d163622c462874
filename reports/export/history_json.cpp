// SPDX-License-Identifier: Apache-2.0

#include "export/history_data.hpp"
#include "history/document.hpp"
#include "json/json.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

using json::Value;

Value number(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Value(*value) : Value(nullptr);
}

template <class T>
Value list(const std::vector<T>& entries, Value (*one)(const T&)) {
    Value out = Value::array();
    for (const auto& entry : entries) out.push_back(one(entry));
    return out;
}

Value fact(const ChangedFact& fact) {
    return {{"cause", to_string(fact.cause)},
            {"name", fact.name},
            {"before", fact.before},
            {"after", fact.after},
            {"without_effect", fact.without_effect}};
}

Value point(const HistoryPoint& point) {
    return {{"seconds", point.seconds}, {"value", number(point.value)},
            {"low", number(point.low)}, {"high", number(point.high)},
            {"runs", point.runs},       {"machine", point.machine},
            {"files", point.files}};
}

Value step(const ChangePoint& step) {
    return {{"seconds", step.seconds},
            {"earliest", step.earliest},
            {"latest", step.latest},
            {"machine", step.machine},
            {"before", number(step.before)},
            {"after", number(step.after)},
            {"ratio", number(step.ratio)},
            {"low", number(step.low)},
            {"high", number(step.high)},
            {"p", number(step.p)},
            {"cause", to_string(step.cause)},
            {"facts", list(step.facts, &fact)},
            {"text", step.text}};
}

Value event(const HistoryEvent& event) {
    return {{"seconds", event.seconds},
            {"until", event.until},
            {"cause", to_string(event.cause)},
            {"facts", list(event.facts, &fact)},
            {"machines", event.machines},
            {"better", event.better},
            {"worse", event.worse},
            {"measured", event.measured},
            {"text", event.text}};
}

Value new_machine(const SeriesBreak& place) {
    return {{"seconds", place.seconds}, {"machine", place.machine}, {"text", place.text}};
}

Value quarter(const Quarter& quarter) {
    return {{"name", quarter.name},         {"value", number(quarter.value)},
            {"low", number(quarter.low)},   {"high", number(quarter.high)},
            {"machines", quarter.machines}, {"runs", quarter.runs}};
}

Value change(const std::optional<QuarterChange>& change) {
    if (!change) return nullptr;
    return {{"from", change->from},           {"to", change->to},
            {"ratio", number(change->ratio)}, {"low", number(change->low)},
            {"high", number(change->high)},   {"machines", change->machines},
            {"found", change->found},         {"text", change->text}};
}

Value trend(const std::optional<Trend>& trend) {
    if (!trend) return nullptr;
    return {{"per_year", number(trend->per_year)},
            {"low", number(trend->low)},
            {"high", number(trend->high)},
            {"text", trend->text}};
}

Value slowest(const Spread::SlowestOf& slowest) {
    return {{"machines", slowest.machines}, {"value", number(slowest.value)}};
}

Value spread(const std::optional<Spread>& spread) {
    if (!spread) return nullptr;
    return {{"machines", spread->machines},
            {"p05", number(spread->p05)},
            {"p50", number(spread->p50)},
            {"p95", number(spread->p95)},
            {"tolerance", number(spread->tolerance)},
            {"slowest", list(spread->slowest, &slowest)},
            {"text", spread->text}};
}

Value series(const HistorySeries& series) {
    return {{"identity", series.identity},
            {"family", series.family},
            {"benchmark", series.benchmark},
            {"what", series.what},
            {"name", series.name},
            {"library", series.library},
            {"metric", series.metric},
            {"unit", series.unit},
            {"higher_is_better", series.higher_is_better},
            {"points", list(series.points, &point)},
            {"steps", list(series.change_points, &step)},
            {"detectable", number(series.detectable)},
            {"breaks", list(series.breaks, &new_machine)},
            {"quarters", list(series.quarters, &quarter)},
            {"change", change(series.change)},
            {"trend", trend(series.trend)},
            {"spread", spread(series.spread)}};
}

Value group(const HistoryGroup& group) {
    return {{"name", group.name},
            {"what", group.what},
            {"runs", group.runs},
            {"machines", group.machines},
            {"from", group.from},
            {"to", group.to},
            {"events", list(group.events, &event)},
            {"series", list(group.series, &series)}};
}

Value not_used(const Problem& problem) {
    return {{"where", problem.where}, {"reason", problem.reason}};
}

} // namespace

std::string to_json(const History& history) {
    return json::to_text({{"schema", "assay.history/1"},
                          {"verdict", verdict_of(history)},
                          {"cause", history.cause},
                          {"groups", list(history.groups, &group)},
                          {"notes", history.notes},
                          {"not_used", list(history.not_used, &not_used)},
                          {"runs", history.runs}});
}

} // namespace assay::report
