// SPDX-License-Identifier: Apache-2.0

#include "history/filter.hpp"

#include "base/nearest.hpp"
#include "model/text.hpp"
#include "model/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::report {
namespace {

struct RunKey {
    std::string_view name;
    std::string (*value)(const RunInfo&, const record::Machine&);
};
using Machine = record::Machine;
constexpr std::array run_keys{
    RunKey{"machine", [](const RunInfo&, const Machine& m) { return m.id; }},
    RunKey{"instance", [](const RunInfo&, const Machine& m) { return m.instance; }},
    RunKey{"provider", [](const RunInfo&, const Machine& m) { return m.provider; }},
    RunKey{"cpu", [](const RunInfo&, const Machine& m) { return m.cpu_model; }},
    RunKey{"kernel", [](const RunInfo&, const Machine& m) { return m.kernel; }},
    RunKey{"os", [](const RunInfo&, const Machine& m) { return m.os; }},
    RunKey{"label", [](const RunInfo& r, const Machine&) { return r.label; }},
    RunKey{"suite", [](const RunInfo& r, const Machine&) { return r.suite; }},
    RunKey{"version", [](const RunInfo& r, const Machine&) { return r.version; }},
};

struct SeriesKey {
    std::string_view name;
    std::string (*value)(const Series&);
};
constexpr std::array series_keys{
    SeriesKey{"family", [](const Series& s) { return family_of(s.benchmark); }},
    SeriesKey{"benchmark", [](const Series& s) { return s.benchmark; }},
    SeriesKey{"library", [](const Series& s) { return s.library; }},
    SeriesKey{"metric", [](const Series& s) { return s.metric; }},
    SeriesKey{"place", [](const Series& s) { return s.place; }},
};

std::string value_of(const Series& series, std::string_view key) {
    for (const auto& known : series_keys)
        if (known.name == key) return known.value(series);
    const auto* value = record::find(series.parameters, key);
    return value == nullptr ? "" : record::to_string(*value);
}

std::vector<std::string> known_keys(const Collection& collection) {
    std::vector<std::string> keys;
    for (const auto& key : run_keys) keys.emplace_back(key.name);
    for (const auto& key : series_keys) keys.emplace_back(key.name);
    for (const auto& series : collection.series)
        for (const auto& parameter : series.parameters)
            if (std::ranges::find(keys, parameter.name) == keys.end())
                keys.push_back(parameter.name);
    return keys;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    while (true) {
        const auto end = text.find('|');
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

} // namespace

bool HistoryFilter::Condition::holds(std::string_view value) const {
    return (std::ranges::find(values, value) != values.end()) == equal;
}

Result<HistoryFilter> HistoryFilter::parse(const std::vector<std::string>& expressions,
                                           const Collection& collection) {
    HistoryFilter filter;
    if (expressions.empty()) return filter;
    const auto keys = known_keys(collection);
    for (const auto& expression : expressions) {
        const auto at = expression.find('=');
        const bool negated = at != std::string::npos && at > 0 && expression[at - 1] == '!';
        const auto key =
            expression.substr(0, at == std::string::npos ? at : at - (negated ? 1 : 0));
        if (at == std::string::npos || key.empty())
            return fail(fmt::format("--filter \"{}\" is no condition; one is library=openblas, "
                                    "size=1024|2048 or family!=md",
                                    plain(expression)));
        if (std::ranges::find(keys, key) == keys.end())
            return fail(fmt::format("--filter \"{}\": nothing here has a \"{}\"{}",
                                    plain(expression), plain(key), suggestion(key, keys)));
        const bool of_run =
            std::ranges::any_of(run_keys, [&](const auto& known) { return known.name == key; });
        filter.conditions_.push_back({.key = key,
                                      .values = split(std::string_view{expression}.substr(at + 1)),
                                      .equal = !negated,
                                      .of_run = of_run});
    }
    return filter;
}

bool HistoryFilter::takes(const Collection& collection, const RunInfo& run) const {
    const auto& machine = collection.machines[run.machine];
    return std::ranges::all_of(conditions_, [&](const Condition& condition) {
        if (!condition.of_run) return true;
        const auto* key = std::ranges::find(run_keys, condition.key, &RunKey::name);
        return condition.holds(key->value(run, machine));
    });
}

bool HistoryFilter::takes(const Series& series) const {
    return std::ranges::all_of(conditions_, [&](const Condition& condition) {
        return condition.of_run || condition.holds(value_of(series, condition.key));
    });
}

} // namespace assay::report
