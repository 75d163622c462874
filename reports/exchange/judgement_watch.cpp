// SPDX-License-Identifier: Apache-2.0
//
// Verdicts for what watches nodes: JUnit and OpenMetrics.

#include "document/language.hpp"
#include "document/text.hpp"
#include "exchange/data.hpp"
#include "exchange/openmetrics.hpp"
#include "judge/words.hpp"
#include "store/find.hpp"
#include "write/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>

namespace assay::exchange {
namespace {

using write::escape_html; // what XML needs, too

/// "stream-triad on cuda:0, loop=triad [host]": the same in every language.
std::string stable_name(const judge::Judgement& judgement, const judge::Check& check) {
    auto name = plain(check.id, 200);
    if (!check.series) return name;
    const auto& series = judgement.collection.series[*check.series];
    return plain(fmt::format("{} on {}, {} {} [{}]", name, series.place, series.benchmark,
                             store::joined(series.parameters), series.library),
                 400);
}

/// Numbers that alerts compare: worse is not always more.
int number_of(judge::Outcome outcome) {
    static constexpr std::array numbers{0, 5, 1, 3, 4, 2};
    return numbers.at(static_cast<std::size_t>(outcome));
}

std::string_view stage_name(judge::Stage stage) {
    static constexpr std::array<std::string_view, judge::stages> names{
        "setup", "correctness", "telemetry", "speed", "heat"};
    return names.at(static_cast<std::size_t>(stage));
}

void add_test(std::string& out, const judge::Judgement& judgement, const std::string& node,
              const judge::Check& check) {
    auto end = std::back_inserter(out);
    fmt::format_to(end, "    <testcase classname=\"{}.{}\" name=\"{}\"", node,
                   stage_name(stage_of(check)), escape_html(stable_name(judgement, check)));
    if (check.outcome == judge::Outcome::pass) {
        out += "/>\n";
        return;
    }
    const auto found = escape_html(finding_of(judgement, check));
    const auto said = escape_html(explained(judgement, check));
    switch (check.outcome) {
    case judge::Outcome::skip:
        fmt::format_to(end, "><skipped message=\"{}\"/></testcase>\n", found);
        break;
    case judge::Outcome::warn:
        fmt::format_to(end, "><system-out>WARN: {}. {}</system-out></testcase>\n", found, said);
        break;
    default:
        const auto* const kind = check.outcome == judge::Outcome::fail ? "failure" : "error";
        fmt::format_to(end, "><{0} type=\"{1}\" message=\"{2}\">{3}</{0}></testcase>\n", kind,
                       to_string(check.cause), found, said);
    }
}

std::size_t count_of(const judge::Node& node, std::initializer_list<judge::Outcome> outcomes) {
    return static_cast<std::size_t>(
        std::ranges::count_if(node.checks, [&](const judge::Check& check) {
            return std::ranges::find(outcomes, check.outcome) != outcomes.end();
        }));
}

} // namespace

std::string to_junit(const judge::Judgement& judgement) {
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay\">\n";
    auto end = std::back_inserter(out);
    for (const auto& node : judgement.nodes) {
        const auto& collection = judgement.collection;
        const auto& machine = collection.machines[node.machine];
        const auto name =
            escape_html(fmt::format("{}{}{}", machine_name(judgement, node),
                                    node.campaign.empty() ? "" : " ", plain(node.campaign, 200)));
        fmt::format_to(
            end,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
            name, node.checks.size(), count_of(node, {judge::Outcome::fail}),
            count_of(node, {judge::Outcome::error, judge::Outcome::inconclusive}),
            count_of(node, {judge::Outcome::skip}));
        if (!node.runs.empty())
            if (const auto& at = collection.runs[node.runs.back()].started; !at.empty())
                fmt::format_to(end, " timestamp=\"{}\"", escape_html(plain(at, 40)));
        out += ">\n    <properties>\n";
        const auto property = [&](std::string_view key, std::string_view value) {
            if (!value.empty())
                fmt::format_to(end, "      <property name=\"assay.{}\" value=\"{}\"/>\n", key,
                               escape_html(plain(value, 400)));
        };
        property("verdict", to_string(node.outcome));
        property("machine", machine.id);
        property("cpu", machine.cpu_model);
        property("campaign", node.campaign);
        property("required", std::to_string(node.required));
        property("ran", std::to_string(node.ran));
        for (const auto& limits : judgement.limits.names) property("limits", limits);
        out += "    </properties>\n";
        for (const auto& check : node.checks) add_test(out, judgement, name, check);
        out += "  </testsuite>\n";
    }
    return out + "</testsuites>\n";
}

std::string to_openmetrics(const judge::Judgement& judgement) {
    Gauges gauges;
    std::set<std::string> known; // a sample for each set of labels; the worst check comes first
    for (const auto& node : judgement.nodes) {
        const auto& collection = judgement.collection;
        const auto who = Gauges::labels({{"node", machine_name(judgement, node)},
                                         {"machine", plain(collection.machines[node.machine].id)},
                                         {"campaign", plain(node.campaign)}});
        if (!known.insert(who).second) continue;
        constexpr auto statuses = "0 PASS, 1 WARN, 2 FAIL, 3 INCONCLUSIVE, 4 ERROR, 5 SKIP";
        gauges.add("node_status", "", statuses, who, number_of(node.outcome));
        gauges.add("node_required_checks", "", "required checks", who,
                   static_cast<double>(node.required));
        gauges.add("node_run_checks", "", "required checks that ran", who,
                   static_cast<double>(node.ran));
        if (!node.runs.empty())
            gauges.add("node_run_time", "seconds", "start of the newest run, since 1970", who,
                       collection.runs[node.runs.back()].started_seconds);
        for (const auto& check : node.checks) {
            Gauges::Labels labels{{"check", plain(check.id)}};
            if (check.series) {
                const auto& series = collection.series[*check.series];
                labels.emplace_back("benchmark", plain(series.benchmark));
                labels.emplace_back("device", plain(series.place));
                labels.emplace_back("library", plain(series.library));
                labels.emplace_back("parameters", plain(store::joined(series.parameters)));
            }
            const auto what = fmt::format("{},{}", who, Gauges::labels(labels));
            if (!known.insert(what).second) continue;
            const auto cause =
                check.cause == judge::Cause::none
                    ? what
                    : fmt::format("{},cause=\"{}\",severity=\"{}\"", what, to_string(check.cause),
                                  to_string(severity_of(check.outcome, check.action)));
            gauges.add("check_status", "", statuses, cause, number_of(check.outcome));
            const auto unit = openmetrics_unit(check.unit);
            if (check.value) gauges.add("check_value", unit, "checked value", what, *check.value);
            if (check.bound)
                gauges.add("check_bound", unit, "limit of the check", what, *check.bound);
        }
    }
    return gauges.text();
}

} // namespace assay::exchange
