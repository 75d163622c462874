// SPDX-License-Identifier: Apache-2.0

#include "compare/verdict.hpp"
#include "compare/words.hpp"
#include "export/comparison_data.hpp"
#include "json/json.hpp"
#include "json/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

namespace assay::report {
namespace {

using json::Value;

Value number(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Value(*value) : Value(nullptr);
}

/// What stands for other times than those measured, and where it is known from.
Value between(const BetweenRuns& between) {
    return {{"deviation", between.deviation},
            {"source", between.history == 0 ? std::string{"default"}
                                            : fmt::format("history of {} runs", between.history)}};
}

Value contrast(const Contrast& contrast) {
    return {
        {"outcome", to_string(contrast.outcome)},
        {"ratio", number(contrast.ratio)},
        {"low", number(contrast.low)},
        {"high", number(contrast.high)},
        {"p", number(contrast.p)},
        {"detectable", number(contrast.detectable)},
        {"paired", contrast.paired},
        {"reason_code", contrast.no_verdict == NoVerdict::none
                            ? Value(nullptr)
                            : Value(to_string(contrast.no_verdict))},
        {"between_runs", contrast.between_runs ? between(*contrast.between_runs) : Value(nullptr)},
        {"text", contrast_in_words(contrast)}};
}

/// Of thousands of runs the names of a few are enough; `runs` counts all.
std::vector<std::string> some_of(const std::vector<std::string>& files) {
    constexpr std::size_t named = 50;
    return {files.begin(),
            files.begin() + static_cast<std::ptrdiff_t>(std::min(files.size(), named))};
}

Value cell(const Cell& cell, const std::string& unit) {
    return {{"value", number(cell.value)},
            {"low", number(cell.low)},
            {"high", number(cell.high)},
            {"count", cell.count},
            {"values", cell.values},
            {"library", cell.library},
            {"share_of_ceiling", number(cell.share_of_ceiling)},
            {"text", value_in_words(cell, unit)},
            {"interval", interval_in_words(cell)},
            {"contrast", cell.contrast ? contrast(*cell.contrast) : Value(nullptr)},
            {"notes", cell.notes}};
}

Value row(const ComparedRow& row) {
    json::Members parameters;
    for (const auto& [name, value] : row.parameters)
        std::visit([&, &key = name](const auto& v) { parameters.set(key, v); }, value);
    Value cells = Value::array();
    for (const auto& entry : row.cells) cells.push_back(cell(entry, row.unit));
    return {{"identity", row.identity},
            {"family", row.family},
            {"benchmark", row.benchmark},
            {"what", row.what},
            {"name", row.name},
            {"library", row.library},
            {"libraries", row.libraries},
            {"parameters", parameters.take()},
            {"metric", row.metric},
            {"unit", row.unit},
            {"higher_is_better", row.higher_is_better},
            {"cells", std::move(cells)}};
}

Value means(const std::vector<MeanRatio>& means) {
    Value list = Value::array();
    for (const auto& mean : means) // the first side is held against nothing
        list.push_back(
            {{"ratio", number(mean.ratio)},
             {"low", number(mean.low)},
             {"high", number(mean.high)},
             {"count", mean.count},
             {"outcome", &mean == &means.front() ? Value(nullptr) : Value(to_string(mean.outcome))},
             {"p", number(mean.p)},
             {"detectable", number(mean.detectable)},
             {"text", ratio_in_words(mean)}});
    return list;
}

Value tallies(const std::vector<Tally>& tallies) {
    Value list = Value::array();
    for (const auto& tally : tallies)
        list.push_back({{"better", tally.better},
                        {"worse", tally.worse},
                        {"same", tally.same},
                        {"cannot_tell", tally.cannot_tell},
                        {"missing", tally.missing}});
    return list;
}

Value tables(const std::vector<ComparedTable>& tables) {
    Value list = Value::array();
    for (const auto& table : tables) {
        Value rows = Value::array();
        for (const auto& entry : table.rows) rows.push_back(row(entry));
        list.push_back({{"name", table.name},
                        {"title", table.title},
                        {"question", table.question},
                        {"rows", std::move(rows)},
                        {"means", means(table.means)},
                        {"tallies", tallies(table.tallies)}});
    }
    return list;
}

} // namespace

std::string to_json(const Comparison& comparison) {
    Value sides = Value::array();
    for (const auto& side : comparison.sides)
        sides.push_back({{"label", side.label},
                         {"what", side.what},
                         {"runs", side.runs},
                         {"machines", side.machines},
                         {"measured", side.measured},
                         {"threads", number(side.threads)},
                         {"cores", number(side.cores)},
                         {"memory", number(side.memory)},
                         {"price", number(side.price)},
                         {"files", some_of(side.files)}});
    Value summary = Value::array();
    for (const auto& fact : summary_of(comparison))
        summary.push_back({{"name", fact.name}, {"text", fact.text}});
    Value ranking = Value::array();
    for (const auto& entry : comparison.ranking)
        ranking.push_back({{"side", entry.side}, {"rank", entry.rank}});
    Value not_compared = Value::array();
    for (const auto& entry : comparison.not_compared)
        not_compared.push_back(
            {{"what", entry.what}, {"reason", entry.reason}, {"where", entry.where}});
    Value prices = Value::array();
    for (const auto& [offer, price] : comparison.prices.machines)
        prices.push_back({{"offer", offer->id},
                          {"state", to_string(price.state)},
                          {"hour", number(price.hour)},
                          {"date", offer->date},
                          {"source", offer->source}});
    Value method = {
        {"alpha", comparison.alpha},          {"correction", to_string(comparison.correction)},
        {"tests", comparison.tests},          {"minimum_effect", comparison.minimum_effect},
        {"unit", to_string(comparison.unit)}, {"paired", comparison.paired},
        {"text", method_in_words(comparison)}};
    return json::to_text({{"schema", "assay.comparison/1"},
                          {"title", title_of(comparison)},
                          {"verdict", verdict_of(comparison).text},
                          {"scale", to_string(comparison.scale)},
                          {"currency", comparison.prices.currency},
                          {"prices", std::move(prices)},
                          {"sides", std::move(sides)},
                          {"summary", std::move(summary)},
                          {"tables", tables(comparison.tables)},
                          {"questions", tables(comparison.questions)},
                          {"others", tables(comparison.others)},
                          {"overall", means(comparison.overall)},
                          {"ranking", std::move(ranking)},
                          {"means", means(comparison.means)},
                          {"tallies", tallies(comparison.tallies)},
                          {"question_means", means(comparison.question_means)},
                          {"question_tallies", tallies(comparison.question_tallies)},
                          {"series", comparison.series},
                          {"method", std::move(method)},
                          {"notes", comparison.notes},
                          {"not_compared", std::move(not_compared)}});
}

} // namespace assay::report
