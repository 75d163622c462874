// SPDX-License-Identifier: Apache-2.0

#include "import/description.hpp"

#include "base/file.hpp"
#include "base/names.hpp"
#include "import/figures.hpp"
#include "json/codec.hpp"
#include "json/fields.hpp"
#include "record/metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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

std::string Pattern::set(std::string text) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(std::int64_t{8} << 20U);        // bytes
    options.set_encoding(RE2::Options::EncodingLatin1); // outputs are bytes
    const auto compiled = std::make_shared<const RE2>(text, options);
    if (!compiled->ok()) return compiled->error();
    text_ = std::move(text);
    compiled_ = compiled;
    return {};
}

void decode_value(const json::Object& object, std::string_view key, Pattern& out) {
    std::string text;
    object.read(key, text);
    if (object.failed()) return;
    if (const auto wrong = out.set(text); !wrong.empty())
        object.problem(key, fmt::format("is no regular expression: {}", wrong));
}
void decode_value(const json::Object& object, std::string_view key, std::vector<Pattern>& out) {
    std::vector<std::string> texts;
    object.read(key, texts);
    for (auto& text : texts) {
        if (const auto wrong = out.emplace_back().set(std::move(text)); !wrong.empty())
            object.problem(key, fmt::format("holds no regular expression: {}", wrong));
    }
}

bool Pattern::matches(std::string_view text) const {
    return compiled_ && RE2::FullMatch(re2::StringPiece{text.data(), text.size()}, *compiled_);
}

bool Pattern::match(std::string_view text, Map& groups) const {
    if (!compiled_) return false;
    constexpr int most = 24;
    std::array<re2::StringPiece, most> parts;
    const int count = std::min(compiled_->NumberOfCapturingGroups() + 1, most);
    const re2::StringPiece piece{text.data(), text.size()};
    if (!compiled_->Match(piece, 0, text.size(), RE2::ANCHOR_BOTH, parts.data(), count))
        return false;
    for (const auto& [name, index] : compiled_->NamedCapturingGroups()) {
        if (index >= count) continue;
        const auto& part = parts.at(static_cast<std::size_t>(index));
        if (part.data() != nullptr)
            groups.emplace_back(name, std::string{part.data(), part.size()});
    }
    return true;
}

void Pattern::find_all(std::string_view text, Map& groups) const {
    constexpr std::size_t most = 1000;
    re2::StringPiece rest{text.data(), text.size()};
    re2::StringPiece part;
    if (!compiled_ || compiled_->NumberOfCapturingGroups() != 1) return;
    const auto name = compiled_->CapturingGroupNames().empty()
                          ? std::string{"value"}
                          : compiled_->CapturingGroupNames().begin()->second;
    for (std::size_t i = 0; i < most && RE2::FindAndConsume(&rest, *compiled_, &part); ++i)
        groups.emplace_back(fmt::format("{}.{}", name, i), std::string{part.data(), part.size()});
}

namespace {

/// What a description refers to must be there.
std::string problem_of(const Description& d) {
    if (d.schema != "assay.tool/1") return "schema: expected assay.tool/1";
    if (d.tool.empty() ||
        d.tool.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
        return "tool: expected small letters, digits and hyphens";
    if (d.dialects.empty()) return "dialects: expected one at least";
    for (const auto& dialect : d.dialects) {
        if (dialect.marks.empty()) return "marks: expected one at least";
        for (const auto& table : dialect.tables)
            if (table.titles.empty() || table.split.empty() || table.columns.empty())
                return "tables: expected titles, split and columns";
    }
    for (const auto& rule : d.cases) {
        if (rule.name.empty() && rule.function.empty()) return "cases: expected a name";
        if (!rule.function.empty() &&
            std::ranges::find(function_names, rule.function) == function_names.end())
            return fmt::format("cases: there is no function {}; known are {}", rule.function,
                               fmt::join(function_names, ", "));
        for (const auto* list : {&rule.metrics, &rule.time, &rule.p99})
            for (const auto& metric : *list) {
                const auto* known = record::find_metric(metric.metric);
                if (list == &rule.metrics && known == nullptr)
                    return fmt::format("metrics: there is no metric {}", metric.metric);
                const auto unit = unit_of(metric.unit);
                if (metric.unit != "title" && !unit)
                    return fmt::format("metrics: {}: the unit {} is not known", metric.metric,
                                       metric.unit);
                const std::string_view base =
                    list != &rule.metrics || known == nullptr ? "s" : known->unit;
                if (unit && unit->base != base)
                    return fmt::format("metrics: {} is in {}, not in {}", metric.metric, base,
                                       metric.unit);
            }
        for (const auto& status : rule.status)
            if (status.then != "none" && !value_named<record::Status>(status.then))
                return fmt::format("status: {} is none", status.then);
    }
    return {};
}

constexpr std::size_t longest_file = std::size_t{1} << 20U; // bytes of a description
constexpr std::size_t most_files = 1000;                    // of a folder

Result<void> add_folder(const std::filesystem::path& folder, std::vector<Description>& all) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::directory_iterator item{folder, error}, end; !error && item != end;
         item.increment(error))
        if (item->path().extension() == ".json") files.push_back(item->path());
    if (error)
        return fail(fmt::format("{}: {}: {}", path_variable, folder.string(), error.message()));
    if (files.size() > most_files)
        return fail(fmt::format("{}: {} has more than {} files", path_variable, folder.string(),
                                most_files));
    std::ranges::sort(files);
    for (const auto& file : files) {
        ASSAY_TRY(const auto text, read_whole(file, longest_file));
        ASSAY_TRY(auto description, parse_description(text, file.string()));
        all.push_back(std::move(description));
    }
    return {};
}

} // namespace

Result<Description> parse_description(std::string_view text, std::string_view source) {
    ASSAY_TRY(const auto value, json::parse(text, source, {.bytes = longest_file}));
    ASSAY_TRY(auto description, json::read<Description>(value, source));
    if (const auto problem = problem_of(description); !problem.empty())
        return fail(fmt::format("{}: {}", source, problem));
    return description;
}

Result<std::vector<Description>> read_descriptions(const std::string& folders) {
    std::vector<Description> all;
    for (std::size_t at = 0; at < folders.size();) {
        const auto end = std::min(folders.find(':', at), folders.size());
        if (end != at) ASSAY_TRY(add_folder(folders.substr(at, end - at), all));
        at = end + 1;
    }
    for (std::size_t i = 0; i < shipped_count; ++i) {
        ASSAY_TRY(auto description, parse_description(shipped[i].text, shipped[i].name)); // NOLINT
        // A file of the user replaces the one of the same tool.
        if (std::ranges::find(all, description.tool, &Description::tool) == all.end())
            all.push_back(std::move(description));
    }
    std::ranges::stable_sort(all, std::greater{}, &Description::rank);
    return all;
}

const Result<std::vector<Description>>& descriptions() {
    static const auto all = [] {
        const char* const folders = std::getenv(path_variable); // NOLINT(concurrency-mt-unsafe)
        return read_descriptions(folders == nullptr ? "" : folders);
    }();
    return all;
}

const Description* description_of(std::string_view tool) {
    if (!descriptions()) return nullptr;
    const auto found = std::ranges::find(*descriptions(), tool, &Description::tool);
    return found == descriptions()->end() ? nullptr : &*found;
}

} // namespace assay::imports
