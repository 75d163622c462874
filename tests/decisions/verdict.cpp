// SPDX-License-Identifier: Apache-2.0

#include "verdict.hpp"

#include "base/csv.hpp"
#include "cli/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

namespace assay::decisions {
namespace {

std::string text_of(const json::Value& value, const char* key) {
    const auto found = value.find(key);
    return found != value.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

Check check_of(const json::Value& value) {
    Check check{.id = text_of(value, "id"),
                .verdict = text_of(value, "verdict"),
                .cause = text_of(value, "cause"),
                .required = value.value("required", true)};
    if (const auto at = value.find("case"); at != value.end() && at->is_object()) {
        check.benchmark = text_of(*at, "benchmark");
        check.place = text_of(*at, "place");
    }
    return check;
}

double number_of(const std::string& text) {
    return text.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : std::strtod(text.c_str(), nullptr);
}

Words with_inputs(Words words, const std::vector<std::filesystem::path>& inputs,
                  const Words& more) {
    for (const auto& input : inputs) words.push_back(input.string());
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace

Answer ask(const Words& words) {
    const auto outcome = cli_test::run(words);
    Answer answer{.code = outcome.code, .error = outcome.error, .text = outcome.output};
    // A fleet's verdict is larger than the files of settings that the parser is usually for.
    if (auto value = json::parse(outcome.output, "stdout", {.bytes = std::size_t{1} << 30U}))
        answer.json = *std::move(value);
    return answer;
}

Answer check(const std::vector<std::filesystem::path>& inputs, const Words& more) {
    return ask(with_inputs({"check", "--json"}, inputs, more));
}

std::vector<Node> nodes_of(const Answer& answer) {
    std::vector<Node> nodes;
    const auto all = answer.json.is_object() ? answer.json.find("nodes") : answer.json.end();
    if (all == answer.json.end()) return nodes;
    for (const auto& value : *all) {
        Node node{.name = text_of(value, "name"),
                  .campaign = text_of(value, "campaign"),
                  .verdict = text_of(value, "verdict")};
        if (const auto runs = value.find("runs"); runs != value.end())
            for (const auto& run : *runs) node.runs.push_back(run.get<std::string>());
        if (const auto checks = value.find("checks"); checks != value.end())
            for (const auto& one : *checks) node.checks.push_back(check_of(one));
        nodes.push_back(std::move(node));
    }
    return nodes;
}

Node node_of(const std::vector<Node>& nodes, std::string_view campaign) {
    const auto found = std::ranges::find(nodes, campaign, &Node::campaign);
    return found == nodes.end() ? Node{} : *found;
}

std::string verdict_of(const Answer& answer) {
    return answer.json.is_object() ? text_of(answer.json, "verdict") : std::string{};
}

std::string open_checks(const Node& node) {
    std::string text;
    for (const auto& check : node.checks)
        if (check.verdict != "PASS" && check.verdict != "SKIP")
            text += fmt::format("  {} {} {} {} {}{}\n", check.id, check.verdict, check.cause,
                                check.benchmark, check.place, check.required ? "" : " (optional)");
    return text;
}

bool has(const Node& node, std::string_view check, std::string_view cause) {
    return std::ranges::any_of(
        node.checks, [&](const Check& one) { return one.id == check && one.cause == cause; });
}

std::string first_lines(const Answer& answer) {
    std::string text;
    if (!answer.json.is_object()) return text;
    if (const auto lines = answer.json.find("text"); lines != answer.json.end())
        for (const auto& line : *lines) text += line.get<std::string>() + "\n";
    return text;
}

std::vector<Row> rows_of(const std::filesystem::path& folder, const Words& more) {
    const auto outcome = cli_test::run(with_inputs({"check", "--csv", "-"}, {folder}, more));
    CsvRows rows{outcome.output};
    if (!rows.next()) throw std::runtime_error{"no table: " + outcome.error};
    std::map<std::string, std::size_t> columns;
    for (std::size_t i = 0; i < rows.cells().size(); ++i) columns[rows.cells()[i]] = i;
    std::vector<Row> all;
    while (rows.next()) {
        const auto cell = [&](const char* name) { return rows.cells().at(columns.at(name)); };
        all.push_back({.campaign = cell("campaign"),
                       .check = cell("check"),
                       .verdict = cell("verdict"),
                       .cause = cell("cause"),
                       .benchmark = cell("benchmark"),
                       .place = cell("place"),
                       .library = cell("library"),
                       .parameters = cell("parameters"),
                       .metric = cell("metric"),
                       .value = number_of(cell("value")),
                       .bound = number_of(cell("bound")),
                       .at_least = cell("direction") == "at_least"});
    }
    return all;
}

} // namespace assay::decisions
