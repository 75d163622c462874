// SPDX-License-Identifier: Apache-2.0
#include "document/text.hpp"
#include "history/document.hpp"
#include "history/words.hpp"
#include "json/codec.hpp"
#include "write/csv_line.hpp"

#include <fmt/core.h>

#include <optional>
#include <string_view>

namespace assay::store {

ASSAY_FIELDS(Problem, where, reason)

} // namespace assay::store

namespace assay::history {

using namespace document;
namespace {

using write::CsvLine;

constexpr std::string_view columns =
    "kind,group,series,family,benchmark,case,library,metric,unit,higher_is_better,date,until,"
    "machine,runs,machines,before,value,low,high,ratio,ratio_low,ratio_high,p,cause,facts,text\r\n";

/// Columns that a kind of row leaves empty do not apply to it.
struct Cells {
    std::string date;
    std::string until;
    std::string machine;
    std::optional<std::size_t> runs;
    std::optional<std::size_t> machines;
    std::optional<double> before;
    std::optional<double> value;
    std::optional<double> low;
    std::optional<double> high;
    std::optional<double> ratio;
    std::optional<double> ratio_low;
    std::optional<double> ratio_high;
    std::optional<double> p;
    std::string cause;
    std::string facts;
    std::string text;
};

void write_cells(CsvLine& line, const Cells& c) {
    line.cells(c.date, c.until, c.machine, c.runs, c.machines, c.before, c.value, c.low, c.high,
               c.ratio, c.ratio_low, c.ratio_high, c.p, c.cause, c.facts, c.text);
    line.end();
}

class Rows {
public:
    Rows(std::string& out, const HistoryGroup& group, const HistorySeries& series)
        : out_{out}, group_{group}, series_{series} {}

    void write_all() {
        for (const auto& point : series_.points)
            add("point", {.date = date_of(point.seconds),
                          .machine = point.machine,
                          .runs = point.runs,
                          .value = point.value,
                          .low = point.low,
                          .high = point.high});
        for (const auto& quarter : series_.quarters)
            add("quarter", {.date = quarter.name,
                            .runs = quarter.runs,
                            .machines = quarter.machines,
                            .value = quarter.value,
                            .low = quarter.low,
                            .high = quarter.high});
        for (const auto& step : series_.change_points) add("step", cells_of(step));
        if (series_.spread)
            add("spread", {.machines = series_.spread->machines,
                           .value = series_.spread->p50,
                           .low = series_.spread->p05,
                           .high = series_.spread->p95,
                           .text = series_.spread->text});
    }

private:
    static Cells cells_of(const ChangePoint& step) {
        std::string facts;
        for (const auto& fact : step.facts)
            facts += fmt::format("{}{}", facts.empty() ? "" : "; ", fact_in_words(fact));
        return {.date = date_of(step.earliest),
                .until = date_of(step.latest),
                .machine = step.machine,
                .before = step.before,
                .value = step.after,
                .ratio = step.ratio,
                .ratio_low = step.low,
                .ratio_high = step.high,
                .p = step.p,
                .cause = std::string{to_string(step.cause)},
                .facts = facts,
                .text = step.text};
    }
    void add(std::string_view kind, const Cells& cells) {
        CsvLine line{out_};
        line.cells(kind, group_.name, series_.identity, series_.family, series_.benchmark,
                   series_.what, series_.library, series_.metric, series_.unit,
                   series_.higher_is_better);
        write_cells(line, cells);
    }

    std::string& out_;
    const HistoryGroup& group_;
    const HistorySeries& series_;
};

} // namespace

std::string to_csv(const History& history) {
    std::string out{columns};
    for (const auto& group : history.groups)
        for (const auto& series : group.series) Rows{out, group, series}.write_all();
    for (const auto& problem : history.not_used) {
        CsvLine line{out};
        line.cells("not_used", "", problem.where).empty(7);
        write_cells(line, {.text = problem.reason});
    }
    return out;
}

// --- history json --------------------------------------------------------------------------------

ASSAY_FIELDS(ChangedFact, cause, name, before, after, without_effect)
ASSAY_FIELDS(HistoryPoint, seconds, value, low, high, runs, machine, files)
ASSAY_FIELDS(ChangePoint, seconds, earliest, latest, machine, before, after, ratio, low, high, p,
             cause, facts, text)
ASSAY_FIELDS(HistoryEvent, seconds, until, cause, facts, machines, better, worse, measured, text)
ASSAY_FIELDS(SeriesBreak, seconds, machine, text)
ASSAY_FIELDS(Quarter, name, value, low, high, machines, runs, delivered, fast_share)
ASSAY_FIELDS(QuarterChange, from, to, ratio, low, high, machines, found, text)
ASSAY_FIELDS(Trend, per_year, low, high, text)
ASSAY_FIELDS(Spread::SlowestOf, machines, value)
ASSAY_FIELDS(Spread, machines, p05, p50, p95, tolerance, slowest, text)
ASSAY_FIELDS(HistorySeries, identity, family, benchmark, what, name, library, metric, unit,
             higher_is_better, points, (record.change_points, "steps"), detectable, breaks,
             quarters, change, trend, spread)
ASSAY_FIELDS(HistoryGroup, name, what, runs, machines, from, to, events, series)
ASSAY_FIELDS(History, ("assay.history/1", "schema"), (sentences(answer_of(record)), "verdict"),
             cause, groups, notes, not_used, runs)

std::string to_json(const History& history) { return json::to_text(json::encode(history)); }

} // namespace assay::history
