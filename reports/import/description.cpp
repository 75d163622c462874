// SPDX-License-Identifier: Apache-2.0

#include "import/description.hpp"

#include "base/file.hpp"
#include "base/names.hpp"
#include "extract/units.hpp"
#include "json/codec.hpp"
#include "json/fields.hpp"
#include "record/metrics.hpp"
#include "record/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace assay::imports {

ASSAY_FIELDS(LineRule, line, set, begin, process, opens, (record.record, "record"), wrong, right,
             end, more, lists, key, head, each, unless, note, skip, matrix)
ASSAY_FIELDS(Column, title, field, note, may_be_empty, words)
ASSAY_FIELDS(TableRule, titles, split, columns, row, begin, set, repeated)
ASSAY_FIELDS(ListRule, each, fields, parts, kind, list)
ASSAY_FIELDS(Dialect, format, marks, strict, ignore, lines, tables, command, command_end, pairs,
             nested, facts, lists, documents, repeated_keys, refuse)
ASSAY_FIELDS(ParameterRule, name, from, omit, values, size, number, needed)
ASSAY_FIELDS(MetricRule, metric, from, minus, unit, optional, zero)
ASSAY_FIELDS(StatusRule, from, is, then, because)
ASSAY_FIELDS(FollowRule, rate, amount, time)
ASSAY_FIELDS(DeriveRule, from, is, set)
ASSAY_FIELDS(JoinRule, kind, with, by, fields)
ASSAY_FIELDS(CaseRule, name, of, figures, function, parameters, settings, headline, metrics, time,
             p99, calls, work, status, follows, between, left_out, method, check, passes, error,
             bound, needs_check, asked, done, things)
ASSAY_FIELDS(Description, schema, tool, title, reads, versions, place, library, rank, external,
             places, software, parameters, settings, dialects, derive, join, cases)

template <OneOf<LineRule, Column, TableRule, ListRule, Dialect, ParameterRule, MetricRule,
                StatusRule, FollowRule, DeriveRule, JoinRule, CaseRule, Description>
              T>
void json_lenient(const T&);
template <OneOf<LineRule, Column, TableRule, ListRule, Dialect, ParameterRule, MetricRule,
                StatusRule, FollowRule, DeriveRule, JoinRule, CaseRule, Description>
              T>
void json_closed(const T&);

namespace {

Map map_from(const json::Object& object) {
    Map map;
    for (const auto& [name, value] : object.value().items())
        if (value.is_string())
            map.emplace_back(name, value.get<std::string>());
        else
            object.expected(name, "a text");
    return map;
}

} // namespace

void decode_value(const json::Object& object, std::string_view key, Map& out) {
    const auto inner = object.object(key);
    if (!object.failed()) out = map_from(inner);
}
void decode_value(const json::Object& object, std::string_view key, std::vector<Map>& out) {
    object.each(key, [&](const json::Object& item) { out.push_back(map_from(item)); });
}

std::string_view value_in(const Map& map, std::string_view key) {
    for (const auto& [name, value] : map)
        if (name == key) return value;
    return {};
}

void decode_value(const json::Object& object, std::string_view key, Pattern& out) {
    std::string text;
    object.read(key, text);
    if (object.failed()) return;
    if (const auto wrong = out.set(text); !wrong.empty())
        object.problem(key, fmt::format("invalid regular expression: {}", wrong));
}
void decode_value(const json::Object& object, std::string_view key, std::vector<Pattern>& out) {
    std::vector<std::string> texts;
    object.read(key, texts);
    for (auto& text : texts) {
        if (const auto wrong = out.emplace_back().set(std::move(text)); !wrong.empty())
            object.problem(key, fmt::format("contains an invalid regular expression: {}", wrong));
    }
}

namespace {

/// Names that a description refers to must exist.
std::string problem_of(const Description& d) {
    if (d.schema != "assay.tool/1") return "schema: expected assay.tool/1";
    if (d.tool.empty() ||
        d.tool.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
        return "tool: expected lower-case letters, digits and hyphens";
    if (d.dialects.empty()) return "dialects: expected at least one";
    for (const auto& dialect : d.dialects) {
        if (dialect.marks.empty()) return "marks: expected at least one";
        for (const auto& table : dialect.tables)
            if (table.titles.empty() || table.split.empty() || table.columns.empty())
                return "tables: expected titles, split and columns";
    }
    for (const auto& rule : d.cases) {
        if (rule.name.empty() && rule.function.empty()) return "cases: expected a name";
        if (!rule.function.empty() &&
            std::ranges::find(function_names, rule.function) == function_names.end())
            return fmt::format("cases: unknown function {} (expected one of {})", rule.function,
                               fmt::join(function_names, ", "));
        for (const auto* list : {&rule.metrics, &rule.time, &rule.p99})
            for (const auto& metric : *list) {
                const auto* known = record::find_metric(metric.metric);
                if (list == &rule.metrics && known == nullptr)
                    return fmt::format("metrics: unknown metric {}", metric.metric);
                const auto unit = extract::unit_of(metric.unit);
                if (metric.unit != "title" && !unit)
                    return fmt::format("metrics: {}: unknown unit {}", metric.metric, metric.unit);
                const std::string_view base =
                    list != &rule.metrics || known == nullptr ? "s" : known->unit;
                if (unit && unit->base != base)
                    return fmt::format("metrics: {} is in {}, not in {}", metric.metric, base,
                                       metric.unit);
            }
        for (const auto& status : rule.status)
            if (status.then != "none" && !value_named<record::Status>(status.then))
                return fmt::format("status: unknown status {}", status.then);
    }
    return {};
}

constexpr std::size_t longest_file = std::size_t{1} << 20U; // bytes of a description
constexpr std::size_t most_files = 1000;                    // of a folder

void add_folder(const std::filesystem::path& folder, Library& library) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::directory_iterator item{folder, error}, end; !error && item != end;
         item.increment(error))
        if (item->path().extension() == ".json") files.push_back(item->path());
    const auto broken = [&](const std::string& why) {
        library.broken.push_back(fmt::format("{}: {}", path_variable, why));
    };
    if (error) return broken(fmt::format("{}: {}", folder.string(), error.message()));
    if (files.size() > most_files)
        return broken(fmt::format("{}: more than {} files", folder.string(), most_files));
    std::ranges::sort(files);
    for (const auto& file : files) {
        const auto text = read_whole(file, longest_file);
        auto description = text ? parse_description(*text, file.string())
                                : Result<Description>{tl::unexpected{text.error()}};
        if (description)
            library.all.push_back(*std::move(description));
        else
            broken(description.error().message);
    }
}

} // namespace

Result<Description> parse_description(std::string_view text, std::string_view source) {
    ASSAY_TRY(const auto value, json::parse(text, source, {.bytes = longest_file}));
    ASSAY_TRY(auto description, json::read<Description>(value, source));
    if (const auto problem = problem_of(description); !problem.empty())
        return fail(fmt::format("{}: {}", source, problem));
    return description;
}

Library read_descriptions(const std::string& folders) {
    Library library;
    auto& all = library.all;
    for (std::size_t at = 0; at < folders.size();) {
        const auto end = std::min(folders.find(':', at), folders.size());
        if (end != at) add_folder(folders.substr(at, end - at), library);
        at = end + 1;
    }
    for (std::size_t i = 0; i < shipped_count; ++i) {
        auto description = parse_description(shipped[i].text, shipped[i].name); // NOLINT
        if (!description) library.broken.push_back(description.error().message);
        // A file of the user replaces the one of the same tool.
        else if (std::ranges::find(all, description->tool, &Description::tool) == all.end())
            all.push_back(*std::move(description));
    }
    std::ranges::stable_sort(all, std::greater{}, &Description::rank);
    return library;
}

const Library& library() {
    static const auto all = [] {
        const char* const folders = std::getenv(path_variable); // NOLINT(concurrency-mt-unsafe)
        return read_descriptions(folders == nullptr ? "" : folders);
    }();
    return all;
}

const Description* description_of(std::string_view tool) {
    const auto found = std::ranges::find(library().all, tool, &Description::tool);
    return found == library().all.end() ? nullptr : &*found;
}

} // namespace assay::imports
