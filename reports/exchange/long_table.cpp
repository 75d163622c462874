// SPDX-License-Identifier: Apache-2.0

#include "exchange/long_table.hpp"

#include "base/terminal.hpp"
#include "document/text.hpp"
#include "document/words.hpp"
#include "record/conditions.hpp"
#include "record/convert.hpp"
#include "record/metrics.hpp"
#include "record/same_machine.hpp"
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

namespace assay::exchange {
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
    const store::FoundFile& file;
    const record::Case& c;
    const CaseTexts& texts;
    const record::Metric& metric;
    bool is_primary = false;
    std::string_view cells;
};

using LongCell = std::variant<std::monostate, std::string_view, double, bool>;
LongCell number(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? LongCell{*value} : LongCell{};
}
LongCell of_bound(const LongRow& row, std::string_view text) {
    return row.is_primary ? LongCell{text} : LongCell{};
}
LongCell of_check(const LongRow& row, std::optional<double> record::Verification::* value) {
    return row.c.verification ? number(*row.c.verification.*value) : LongCell{};
}

constexpr auto word = ColumnType::text;
constexpr auto numeric = ColumnType::number;
constexpr auto boolean = ColumnType::boolean;
constexpr auto object = ColumnType::object;

/// The one list: visit(column, cell) for every column of a row, in their order.
template <class Visit>
void each_column(const LongRow& r, const Visit& visit) {
    const auto& run = r.run;
    const auto& c = r.c;
    const auto& metric = r.metric;
    const auto& texts = r.texts;
    const auto show = [&](std::string_view name, ColumnType type, std::string_view what,
                          const LongCell& cell) { visit(ColumnInfo{name, type, what}, cell); };
    show("run", word, "id of the run", run.id);
    show("suite", word, "suite, or the benchmarks named", run.suite);
    show("started", word, "start of the run, UTC, ISO 8601; empty if an import does not record it",
         run.started);
    show("machine", word, "id of the machine", texts.machine);
    show("cpu_model", word, "processor", run.machine.cpu_model);
    show("provider", word, "provider of the machine: aws, gcp, ..., unknown", run.machine.provider);
    show("instance", word, "instance type or product name", run.machine.instance);
    show("benchmark", word, "id of the benchmark", c.benchmark);
    show("version", numeric,
         "version of the benchmark; values of different versions cannot be compared",
         static_cast<double>(c.version));
    show("place", word, "host, or the kind of device: cuda", c.place.kind);
    show("library", word, "library that did the work", c.library);
    show("parameters", word, "name=value name=value, in the benchmark's order", texts.parameters);
    show("settings", word, "settings recorded with the parameters, as name=value name=value",
         texts.settings);
    show("status", word, "how the case ended: ok, unstable, disturbed, skipped, incorrect, ...",
         record::to_string(c.status));
    show("reason", word, "reason if not ok, in words", c.reason);
    show("metric", word, "name of the metric", metric.name);
    show("unit", word, "SI base unit of the metric", metric.unit);
    show("higher_is_better", boolean, "direction of the metric",
         metric.name.empty() ? LongCell{} : LongCell{metric.higher_is_better});
    show("value", numeric, "the value; empty if not measured", number(metric.value));
    show("low", numeric, "95% interval of the value", number(metric.low));
    show("high", numeric, "95% interval of the value", number(metric.high));
    show("interval_scope", word, "what the interval covers: none, within_process, between_replicas",
         metric.value ? LongCell{record::to_string(metric.interval_scope)} : LongCell{});
    show("median", numeric, "median of the batch values", number(metric.median));
    show("min", numeric, "lowest batch value", number(metric.min));
    show("p95", numeric, "95th percentile of the batch values", number(metric.p95));
    show("p99", numeric, "99th percentile of single calls; times only", number(metric.p99));
    show("count", numeric, "number of batch values or matrix cells",
         metric.value ? LongCell{static_cast<double>(metric.count)} : LongCell{});
    show("ceiling", numeric, "roofline bound of the primary metric, on its row",
         r.is_primary ? number(c.ceiling.value) : LongCell{});
    show("ceiling_kind", word, "measured, datasheet, none",
         of_bound(r, record::to_string(c.ceiling.kind)));
    show("ceiling_source", word, "source of the bound, or why it is missing",
         of_bound(r, c.ceiling.source));
    show("verified", boolean, "whether the result passed its check",
         c.verification ? LongCell{c.verification->passed} : LongCell{});
    show("error", numeric, "error of the result", of_check(r, &record::Verification::error));
    show("bound", numeric, "largest error that passes", of_check(r, &record::Verification::bound));
    show("label", word, "label of the input: LABEL=PATH", r.file.label);
    show("file", word, "result file, relative to its input", texts.file);
    show("run_status", word, "done, interrupted", run.status);
    show("campaign", word, "campaign of the run", run.campaign);
    show("tags", object, "tags of the run", texts.tags);
    show("assay", word, "version of assay", run.version);
    show("tool", word, "tool of an imported run",
         run.imported ? LongCell{run.imported->tool} : LongCell{});
    show("variant", word, "variant of --interleave",
         run.pairing ? LongCell{run.pairing->setting} : LongCell{});
    show("device", word, "host, cuda, cuda:1", texts.device);
    show("device_model", word, "name of the device, if the driver gives one", texts.device_model);
    show("parameters_json", object, "parameters with their types", texts.parameters_json);
    show("settings_json", object, "settings with their types", texts.settings_json);
    show("conditions", word,
         "other conditions that distinguish cases: team, path, state of the device",
         texts.conditions);
    show("reason_code", word, "reason code if not ok; empty if ok",
         c.reason_code == record::ReasonCode::none ? LongCell{}
                                                   : LongCell{record::to_string(c.reason_code)});
    show("is_primary", boolean, "whether it is the primary metric of the benchmark", r.is_primary);
    show("cells", word, "lowest, median and highest cell of a matrix; empty for others", r.cells);
    show("bound_share", numeric, "share of the roofline bound that the primary metric reaches",
         r.is_primary && metric.value ? number(document::ceiling_share(c)) : LongCell{});
}

std::string in_json(const record::NamedList& list) { return json::to_line(record::to_json(list)); }

/// Folders above may name people and projects.
std::filesystem::path place_below_input(const store::FoundFile& file) {
    return file.within.empty() ? file.path.parent_path().filename() / file.path.filename()
                               : std::filesystem::path{file.within};
}

CaseTexts texts_of(const record::Run& run, const record::Case& c, std::string_view tags,
                   std::string_view file) {
    const auto* device = record::find_device(run.machine, c.place);
    return {.parameters = store::joined(c.parameters),
            .settings = store::joined(c.settings),
            .parameters_json = in_json(c.parameters),
            .settings_json = in_json(c.settings),
            .conditions = store::joined(record::conditions(c, run.machine)),
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
    each_column(row, [&](const ColumnInfo& /*column*/, const LongCell& cell) {
        if (const auto* view = std::get_if<std::string_view>(&cell))
            line.text(*view);
        else if (const auto* value = std::get_if<double>(&cell))
            line.number(*value);
        else if (const auto* flag = std::get_if<bool>(&cell))
            line.raw(*flag ? "true" : "false");
        else
            line.raw("");
    });
    line.end();
}

void add_ndjson(std::string& out, const LongRow& row) {
    char before = '{';
    each_column(row, [&](const ColumnInfo& column, const LongCell& cell) {
        out += std::exchange(before, ',');
        add_text(out, column.name);
        out += ':';
        if (const auto* value = std::get_if<double>(&cell))
            fmt::format_to(std::back_inserter(out), "{}", *value);
        else if (const auto* flag = std::get_if<bool>(&cell))
            out += *flag ? "true" : "false";
        else if (const auto* view = std::get_if<std::string_view>(&cell); view == nullptr)
            out += "null";
        else if (column.type == object)
            out += *view;
        else
            add_text(out, *view);
    });
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
        std::vector<ColumnInfo> all;
        each_column({{}, {}, {}, {}, {}}, [&](const ColumnInfo& column, const LongCell& /*cell*/) {
            all.push_back(column);
        });
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
    for (const auto& column : table_columns()) header.raw(column.name);
    header.end();
    return out;
}

std::string table_rows(const record::Run& run, const store::FoundFile& file, TableFormat format) {
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
        if (document::headline(c) == nullptr) {
            add(missing(c), true);
            continue;
        }
        for (const auto& metric : c.metrics) add(metric, &metric == &c.metrics.front());
        for (const auto& table : c.tables)
            for (const auto& [cells, metric] : of_table(table)) add(metric, false, cells);
    }
    return out;
}

bool write_table(const store::FoundFiles& files, TableFormat format, const Sink& sink,
                 store::EachRun& read) {
    bool written = true;
    std::string header = table_header(format);
    read = each_run(files, [&](const record::Run& run, const store::FoundFile& file) {
        return written = sink(std::exchange(header, "") + table_rows(run, file, format));
    });
    return written;
}

} // namespace assay::exchange
