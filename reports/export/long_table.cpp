// SPDX-License-Identifier: Apache-2.0

#include "export/long_table.hpp"

#include "base/terminal.hpp"
#include "record/conditions.hpp"
#include "record/convert.hpp"
#include "record/metrics.hpp"
#include "record/same_machine.hpp"
#include "report/text.hpp"
#include "report/words.hpp"
#include "stats/summary.hpp"
#include "write/csv_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace assay::report {
namespace {

using write::CsvLine;

/// Texts that all rows of a case share.
struct CaseTexts {
    std::string parameters, settings, parameters_json, settings_json, conditions, device, tags;
    std::string_view device_model, file, machine;
};
/// A row before it is formatted. `metric` may be made for it: of a matrix, or of a case without a value.
struct LongRow {
    const record::Run& run;
    const FoundFile& file;
    const record::Case& c;
    const CaseTexts& texts;
    const record::Metric& metric;
    bool is_primary = false;
    std::string_view cells;
};

using Cell = std::variant<std::monostate, std::string_view, double, bool>;
Cell number(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Cell{*value} : Cell{};
}
Cell of_bound(const LongRow& row, std::string_view text) {
    return row.is_primary ? Cell{text} : Cell{};
}
Cell of_check(const LongRow& row, std::optional<double> record::Verification::* value) {
    return row.c.verification ? number(*row.c.verification.*value) : Cell{};
}

struct Column {
    ColumnInfo info;
    Cell (*of)(const LongRow& row);
};
constexpr auto word = ColumnType::text;
constexpr auto numeric = ColumnType::number;
constexpr auto boolean = ColumnType::boolean;
constexpr auto object = ColumnType::object;

constexpr std::array columns{
    Column{{"run", word, "id of the run"}, [](const LongRow& r) -> Cell { return r.run.id; }},
    Column{{"suite", word, "suite, or what was asked for"},
           [](const LongRow& r) -> Cell { return r.run.suite; }},
    Column{
        {"started", word, "start of the run, UTC, ISO 8601; empty where an import does not know"},
        [](const LongRow& r) -> Cell { return r.run.started; }},
    Column{{"machine", word, "id of the machine"},
           [](const LongRow& r) -> Cell { return r.texts.machine; }},
    Column{{"cpu_model", word, "processor"},
           [](const LongRow& r) -> Cell { return r.run.machine.cpu_model; }},
    Column{{"provider", word, "who runs the machine: aws, gcp, ..., unknown"},
           [](const LongRow& r) -> Cell { return r.run.machine.provider; }},
    Column{{"instance", word, "its type, or product name"},
           [](const LongRow& r) -> Cell { return r.run.machine.instance; }},
    Column{{"benchmark", word, "id of the benchmark"},
           [](const LongRow& r) -> Cell { return r.c.benchmark; }},
    Column{{"version", numeric, "version of the benchmark; values of two versions do not compare"},
           [](const LongRow& r) -> Cell { return static_cast<double>(r.c.version); }},
    Column{{"place", word, "host, or the kind of device: cuda"},
           [](const LongRow& r) -> Cell { return r.c.place.kind; }},
    Column{{"library", word, "backend that did the work"},
           [](const LongRow& r) -> Cell { return r.c.library; }},
    Column{{"parameters", word, "name=value name=value, in the benchmark's order"},
           [](const LongRow& r) -> Cell { return std::string_view{r.texts.parameters}; }},
    Column{{"settings", word, "recorded beside the parameters, as name=value name=value"},
           [](const LongRow& r) -> Cell { return std::string_view{r.texts.settings}; }},
    Column{{"status", word, "how the case ended: ok, unstable, disturbed, skipped, incorrect, ..."},
           [](const LongRow& r) -> Cell { return record::to_string(r.c.status); }},
    Column{{"reason", word, "why it is not ok, in words"},
           [](const LongRow& r) -> Cell { return r.c.reason; }},
    Column{{"metric", word, "name of the metric"},
           [](const LongRow& r) -> Cell { return r.metric.name; }},
    Column{{"unit", word, "its SI base unit"},
           [](const LongRow& r) -> Cell { return r.metric.unit; }},
    Column{{"higher_is_better", boolean, "direction of the metric"},
           [](const LongRow& r) -> Cell {
               return r.metric.name.empty() ? Cell{} : Cell{r.metric.higher_is_better};
           }},
    Column{{"value", numeric, "the published value; empty where there is none"},
           [](const LongRow& r) { return number(r.metric.value); }},
    Column{{"low", numeric, "95% interval of the value"},
           [](const LongRow& r) { return number(r.metric.low); }},
    Column{{"high", numeric, "95% interval of the value"},
           [](const LongRow& r) { return number(r.metric.high); }},
    Column{{"interval_scope", word, "what it covers: none, within_process, between_replicas"},
           [](const LongRow& r) -> Cell {
               return r.metric.value ? Cell{record::to_string(r.metric.interval_scope)} : Cell{};
           }},
    Column{{"median", numeric, "median of the batch values"},
           [](const LongRow& r) { return number(r.metric.median); }},
    Column{{"min", numeric, "lowest batch value"},
           [](const LongRow& r) { return number(r.metric.min); }},
    Column{{"p95", numeric, "95th percentile of the batch values"},
           [](const LongRow& r) { return number(r.metric.p95); }},
    Column{{"p99", numeric, "99th percentile of single calls; times only"},
           [](const LongRow& r) { return number(r.metric.p99); }},
    Column{{"count", numeric, "batch values, or cells of the matrix, behind the value"},
           [](const LongRow& r) -> Cell {
               return r.metric.value ? Cell{static_cast<double>(r.metric.count)} : Cell{};
           }},
    Column{{"ceiling", numeric, "roofline bound of the primary metric, on its row"},
           [](const LongRow& r) { return r.is_primary ? number(r.c.ceiling.value) : Cell{}; }},
    Column{{"ceiling_kind", word, "measured, datasheet, none"},
           [](const LongRow& r) { return of_bound(r, record::to_string(r.c.ceiling.kind)); }},
    Column{{"ceiling_source", word, "where the bound comes from, or why there is none"},
           [](const LongRow& r) { return of_bound(r, r.c.ceiling.source); }},
    Column{{"verified", boolean, "did the check of the result pass?"},
           [](const LongRow& r) -> Cell {
               return r.c.verification ? Cell{r.c.verification->passed} : Cell{};
           }},
    Column{{"error", numeric, "error of the result that the check found"},
           [](const LongRow& r) { return of_check(r, &record::Verification::error); }},
    Column{{"bound", numeric, "largest error that passes"},
           [](const LongRow& r) { return of_check(r, &record::Verification::bound); }},
    Column{{"label", word, "label of the input: LABEL=PATH"},
           [](const LongRow& r) -> Cell { return r.file.label; }},
    Column{{"file", word, "result file below its input; no folder above it: tables travel"},
           [](const LongRow& r) -> Cell { return r.texts.file; }},
    Column{{"run_status", word, "done, interrupted"},
           [](const LongRow& r) -> Cell { return r.run.status; }},
    Column{{"campaign", word, "campaign of the run"},
           [](const LongRow& r) -> Cell { return std::string_view{r.run.campaign}; }},
    Column{{"tags", object, "tags of the run"},
           [](const LongRow& r) -> Cell { return std::string_view{r.texts.tags}; }},
    Column{{"assay", word, "version of assay"},
           [](const LongRow& r) -> Cell { return r.run.version; }},
    Column{{"tool", word, "the tool that measured, of an imported run"},
           [](const LongRow& r) -> Cell {
               return r.run.imported ? Cell{std::string_view{r.run.imported->tool}} : Cell{};
           }},
    Column{{"variant", word, "side of --interleave"},
           [](const LongRow& r) -> Cell {
               return r.run.pairing ? Cell{std::string_view{r.run.pairing->setting}} : Cell{};
           }},
    Column{{"device", word, "host, cuda, cuda:1"},
           [](const LongRow& r) -> Cell { return std::string_view{r.texts.device}; }},
    Column{{"device_model", word, "its name, where a driver gave it"},
           [](const LongRow& r) -> Cell { return r.texts.device_model; }},
    Column{{"parameters_json", object, "parameters with the types that they have"},
           [](const LongRow& r) -> Cell { return std::string_view{r.texts.parameters_json}; }},
    Column{{"settings_json", object, "settings with the types that they have"},
           [](const LongRow& r) -> Cell { return std::string_view{r.texts.settings_json}; }},
    Column{{"conditions", word, "what else tells series apart: team, path, state of the device"},
           [](const LongRow& r) -> Cell { return std::string_view{r.texts.conditions}; }},
    Column{{"reason_code", word, "why it is not ok, for programs; empty where it is"},
           [](const LongRow& r) -> Cell {
               return r.c.reason_code == record::ReasonCode::none
                          ? Cell{}
                          : Cell{record::to_string(r.c.reason_code)};
           }},
    Column{{"is_primary", boolean, "is it the metric that answers the benchmark's question?"},
           [](const LongRow& r) -> Cell { return r.is_primary; }},
    Column{{"cells", word, "of a matrix: lowest, median, highest of its cells; empty otherwise"},
           [](const LongRow& r) -> Cell { return r.cells; }},
    Column{{"bound_share", numeric, "share of the roofline bound that the primary metric reaches"},
           [](const LongRow& r) {
               return r.is_primary && r.metric.value ? number(ceiling_share(r.c)) : Cell{};
           }},
};

std::string in_json(const record::NamedList& list) { return json::to_line(record::to_json(list)); }

/// Folders above may name people and projects.
std::filesystem::path place_below_input(const FoundFile& file) {
    return file.within.empty() ? file.path.parent_path().filename() / file.path.filename()
                               : std::filesystem::path{file.within};
}

CaseTexts texts_of(const record::Run& run, const record::Case& c, std::string_view tags,
                   std::string_view file) {
    const auto* device = record::find_device(run.machine, c.place);
    return {.parameters = joined(c.parameters),
            .settings = joined(c.settings),
            .parameters_json = in_json(c.parameters),
            .settings_json = in_json(c.settings),
            .conditions = joined(record::conditions(c, run.machine)),
            .device = record::words_of(c.place),
            .tags = std::string{tags},
            .device_model = device == nullptr ? "" : std::string_view{device->name},
            .file = file};
}

void add_text(std::string& out, std::string_view value) {
    const auto is_simple = [](char c) {
        return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= ' ';
    };
    if (!std::ranges::all_of(value, is_simple)) {
        out += json::to_line(json::Value(value));
        return;
    }
    out += '"';
    out += value;
    out += '"';
}

void add_csv(std::string& out, const LongRow& row) {
    CsvLine line{out};
    for (const auto& column : columns) {
        const Cell cell = column.of(row);
        if (const auto* view = std::get_if<std::string_view>(&cell))
            line.text(*view);
        else if (const auto* value = std::get_if<double>(&cell))
            line.number(*value);
        else if (const auto* flag = std::get_if<bool>(&cell))
            line.raw(*flag ? "true" : "false");
        else
            line.raw("");
    }
    line.end();
}

void add_ndjson(std::string& out, const LongRow& row) {
    char before = '{';
    for (const auto& column : columns) {
        out += std::exchange(before, ',');
        add_text(out, column.info.name);
        out += ':';
        const Cell cell = column.of(row);
        if (const auto* value = std::get_if<double>(&cell))
            fmt::format_to(std::back_inserter(out), "{}", *value);
        else if (const auto* flag = std::get_if<bool>(&cell))
            out += *flag ? "true" : "false";
        else if (const auto* view = std::get_if<std::string_view>(&cell); view == nullptr)
            out += "null";
        else if (column.info.type == object)
            out += *view;
        else
            add_text(out, *view);
    }
    out += "}\n";
}

/// Lowest, median and highest of a matrix.
std::vector<std::pair<std::string_view, record::Metric>> of_table(const record::Table& table) {
    std::vector<double> values;
    for (const auto& value : table.values)
        if (value && std::isfinite(*value)) values.push_back(*value);
    if (values.empty()) return {};
    const auto [lowest, highest] = std::ranges::minmax(values);
    const auto* known = record::find_metric(table.metric);
    record::Metric metric{.name = table.metric,
                          .unit = table.unit,
                          .higher_is_better = known == nullptr || known->higher_is_better,
                          .count = values.size()};
    std::vector<std::pair<std::string_view, record::Metric>> rows;
    for (const auto& [cells, value] :
         {std::pair{"lowest", lowest}, {"median", stats::median(values)}, {"highest", highest}}) {
        metric.value = value;
        rows.emplace_back(cells, metric);
    }
    return rows;
}

/// The metric that the case would have.
record::Metric missing(const record::Case& c) {
    const auto* known = record::find_metric(c.headline);
    return {.name = c.headline,
            .unit = known == nullptr ? "" : std::string{known->unit},
            .higher_is_better = known == nullptr || known->higher_is_better};
}

} // namespace

std::span<const ColumnInfo> table_columns() {
    static const auto infos = [] {
        std::array<ColumnInfo, columns.size()> all{};
        std::ranges::transform(columns, all.begin(), &Column::info);
        return all;
    }();
    return infos;
}

namespace {
std::string_view json_type(ColumnType type) {
    static constexpr std::array names{"string", "number", "boolean", "object"};
    return names.at(static_cast<std::size_t>(type));
}
} // namespace

std::string columns_in_words() {
    TextTable table{{"COLUMN", "TYPE", "WHAT"}};
    for (const auto& column : table_columns())
        table.add({std::string{column.name}, std::string{json_type(column.type)},
                   std::string{column.what}});
    return table.text({});
}

json::Value columns_schema() {
    json::Value properties = json::Value::object();
    json::Value names = json::Value::array();
    for (const auto& column : table_columns()) {
        properties[std::string{column.name}] = {{"type", {json_type(column.type), "null"}},
                                                {"description", column.what}};
        names.push_back(column.name);
    }
    return {{"$schema", "http://json-schema.org/draft-07/schema#"},
            {"title", "A line of assay export --to ndjson"},
            {"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(names)},
            {"additionalProperties", false}};
}

std::string table_header(TableFormat format) {
    std::string out;
    if (format != TableFormat::csv) return out;
    CsvLine header{out};
    for (const auto& column : columns) header.raw(column.info.name);
    header.end();
    return out;
}

std::string table_rows(const record::Run& run, const FoundFile& file, TableFormat format) {
    std::string out;
    const auto tags = in_json(run.tags);
    const auto name = plain(place_below_input(file).string());
    const auto machine = record::own_id(run.machine);
    for (const auto& c : run.cases) {
        auto texts = texts_of(run, c, tags, name);
        texts.machine = machine;
        const auto add = [&](const record::Metric& metric, bool is_primary,
                             std::string_view cells = "") {
            const LongRow row{run, file, c, texts, metric, is_primary, cells};
            format == TableFormat::csv ? add_csv(out, row) : add_ndjson(out, row);
        };
        if (headline(c) == nullptr) {
            add(missing(c), true);
            continue;
        }
        for (const auto& metric : c.metrics) add(metric, &metric == &c.metrics.front());
        for (const auto& table : c.tables)
            for (const auto& [cells, metric] : of_table(table)) add(metric, false, cells);
    }
    return out;
}

bool write_table(const FoundFiles& files, TableFormat format, const Sink& sink, EachRun& read) {
    bool written = true;
    std::string header = table_header(format);
    read = each_run(files, [&](const record::Run& run, const FoundFile& file) {
        return written = sink(std::exchange(header, "") + table_rows(run, file, format));
    });
    return written;
}

} // namespace assay::report
