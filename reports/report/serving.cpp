// SPDX-License-Identifier: Apache-2.0
#include "report/serving.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/serving.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "record/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace assay::report {

using namespace document;
namespace {

using document::Cell;
using document::Table;
using document::Tone;

/// "tokens/s"
std::string rate_unit(const Served& series) { return series.items + "/s"; }

/// What the case counts for its rate of items, otherwise its queries.
std::string items_of(const record::Case& c) {
    const auto name = record::text(c.settings, "items");
    return record::number(c.work, "items") && record::is_item_name(name) ? name : "queries";
}

/// The batch of a case whose calls were timed one by one.
std::optional<ServedBatch> served(const record::Case& c) {
    const auto batch = record::number(c.parameters, "batch");
    const auto time = std::ranges::find(c.metrics, "time", &record::Metric::name);
    if (headline(c) == nullptr || !batch || !(*batch > 0) || time == c.metrics.end()) return {};
    if (!time->value || !(*time->value > 0) || !time->median) return {};
    const auto items = items_of(c);
    const double count =
        items == "queries" ? *batch : record::number(c.work, "items").value_or(*batch);
    const bool one_token_each = items == "tokens" && count == *batch;
    return ServedBatch{.identity = record::identity(c),
                       .batch = *batch,
                       .p50 = *time->median,
                       .p99 = time->p99,
                       .queries = *batch / *time->value,
                       .rate = count / *time->value,
                       .per_user = one_token_each ? std::optional{1 / *time->value} : std::nullopt};
}

/// The case without its batch.
record::Case without_batch(const record::Case& c) {
    record::Case rest;
    rest.benchmark = c.benchmark;
    rest.library = c.library;
    rest.place = c.place;
    rest.parameters = c.parameters;
    rest.settings = c.settings;
    std::erase_if(rest.parameters, [](const auto& named) { return named.name == "batch"; });
    return rest;
}

std::string seconds_text(double seconds) { return record::human(seconds, "s"); }

bool is_within(const ServedBatch& of, double bound) { return of.p99 && *of.p99 <= bound; }

std::string answer(const Served& series, double bound) {
    const auto limit = seconds_text(bound);
    if (const auto* best = best_within(series, bound))
        return say<text::serving::best>(series.name, record::human(best->rate, rate_unit(series)),
                                        limit, fmt::format("{:.6g}", best->batch),
                                        seconds_text(*best->p99));
    const auto fastest = std::ranges::min_element(series.batches, {}, [](const auto& of) {
        return of.p99.value_or(std::numeric_limits<double>::infinity());
    });
    return say<text::serving::none>(series.name, limit, seconds_text(*fastest->p99),
                                    fmt::format("{:.6g}", fastest->batch));
}

bool has_users(const Served& series) {
    return std::ranges::any_of(series.batches,
                               [](const auto& of) { return of.per_user.has_value(); });
}

document::Row row_of(const Served& series, const ServedBatch& of, bool with_users,
                     const std::optional<double>& bound) {
    const auto cell = [](std::string text, double number, std::string unit) {
        return Cell{.text = std::move(text), .number = number, .unit = std::move(unit)};
    };
    document::Row row{
        .cells = {cell(fmt::format("{:.6g}", of.batch), of.batch, document::unit_count),
                  cell(seconds_text(of.p50), of.p50, "s"),
                  of.p99 ? cell(seconds_text(*of.p99), *of.p99, "s") : Cell{},
                  cell(record::human(of.rate, rate_unit(series)), of.rate, rate_unit(series))},
        .group = series.name,
        .tags = {.family = family_of(series.benchmark), .libraries = {series.library}}};
    if (with_users)
        row.cells.push_back(
            of.per_user ? cell(record::human(*of.per_user, "tokens/s"), *of.per_user, "tokens/s")
                        : Cell{});
    if (bound)
        row.cells.push_back(
            {.text = is_within(of, *bound) ? say<text::serving::yes>() : say<text::serving::no>(),
             .tone = is_within(of, *bound) ? Tone::good : Tone::quiet});
    return row;
}

} // namespace

const ServedBatch* best_within(const Served& series, double bound) {
    const ServedBatch* best = nullptr;
    for (const auto& of : series.batches)
        if (is_within(of, bound) && (best == nullptr || of.rate > best->rate)) best = &of;
    return best;
}

Serving find_serving(const record::Run& run, std::optional<double> bound) {
    Serving serving{.series = {}, .bound = bound};
    std::map<std::string, std::size_t> known;
    for (const auto& c : run.cases) {
        auto batch = served(c);
        if (!batch) continue;
        const auto rest = without_batch(c);
        const auto [entry, is_new] =
            known.try_emplace(record::identity(rest), serving.series.size());
        if (is_new)
            serving.series.push_back(
                {.name = say<text::words::in_brackets>(
                     case_name(rest.benchmark, rest.parameters, rest.settings),
                     c.place.kind == "host" ? c.library
                                            : c.library + ", " + record::words_of(c.place)),
                 .benchmark = rest.benchmark,
                 .library = rest.library,
                 .items = items_of(c),
                 .batches = {}});
        serving.series[entry->second].batches.push_back(*std::move(batch));
    }
    std::erase_if(serving.series, [](const Served& series) {
        return series.batches.size() < 2 ||
               std::ranges::none_of(
                   series.batches, [](const auto& of) { return of.p99.has_value(); });
    });
    for (auto& series : serving.series) std::ranges::sort(series.batches, {}, &ServedBatch::batch);
    return serving;
}

std::optional<document::Section> serving_section(const Serving& serving) {
    if (serving.series.empty() && !serving.bound) return {};
    document::Section section{.title = say<text::serving::title>(),
                              .question = say<text::serving::question>()};
    if (serving.series.empty()) {
        section.blocks.emplace_back(document::Paragraph{.text = say<text::serving::nothing>()});
        return section;
    }
    Table table{.columns = {{.title = say<text::serving::batch>(), .numeric = true},
                            {.title = "p50", .numeric = true, .key = "p50"},
                            {.title = "p99", .numeric = true, .key = "p99"},
                            {.title = say<text::serving::rate>(), .numeric = true, .key = "rate"}},
                .sheet = say<text::serving::title>()};
    const bool with_users = std::ranges::any_of(serving.series, has_users);
    if (with_users)
        table.columns.push_back(
            {.title = say<text::serving::per_user>(), .numeric = true, .key = "per_user"});
    if (serving.bound)
        table.columns.push_back(
            {.title = say<text::serving::within>(seconds_text(*serving.bound)), .key = "within"});
    for (const auto& series : serving.series) {
        for (const auto& of : series.batches)
            table.rows.push_back(row_of(series, of, with_users, serving.bound));
        if (serving.bound)
            section.blocks.emplace_back(
                document::Paragraph{.text = answer(series, *serving.bound), .mark = "-"});
    }
    section.blocks.emplace_back(std::move(table));
    section.blocks.emplace_back(
        document::Paragraph{.text = say<text::serving::how>(), .tone = Tone::quiet});
    if (with_users)
        section.blocks.emplace_back(
            document::Paragraph{.text = say<text::serving::users>(), .tone = Tone::quiet});
    return section;
}

} // namespace assay::report
