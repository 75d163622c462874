// SPDX-License-Identifier: Apache-2.0
//
// Asks `assay-report` as a user would, and reads its JSON and CSV. Only rows about the
// first lines look at its sentences.

#pragma once

#include "json/json.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::decisions {

using Words = std::vector<std::string>;

struct Answer {
    int code = -1;
    std::string error;
    json::Value json; ///< null where there was none
    std::string text;
};
Answer ask(const Words& words);
/// `check` of these, by the shipped limits.
Answer check(const std::vector<std::filesystem::path>& inputs, const Words& more = {});

struct Check {
    std::string id; ///< of the limit
    std::string verdict;
    std::string cause;
    std::string benchmark;
    std::string place;
    bool required = true;
};
struct Node {
    std::string name;
    std::string campaign;
    std::string verdict;
    std::vector<std::string> runs;
    std::vector<Check> checks; ///< none of a node that passes among others
};
std::vector<Node> nodes_of(const Answer& answer);
/// Nodes made in this folder are campaigns of their own; a node without runs if not found.
Node node_of(const std::vector<Node>& nodes, std::string_view campaign);
std::string verdict_of(const Answer& answer); ///< empty if there is no verdict
/// Every check that is not PASS or SKIP: "device-fft INCONCLUSIVE no_datasheet fft.transform cuda".
std::string open_checks(const Node& node);
bool has(const Node& node, std::string_view check, std::string_view cause);
/// The first lines, as one text.
std::string first_lines(const Answer& answer);

/// A row of `check --csv -`.
struct Row {
    std::string campaign;
    std::string check;
    std::string verdict;
    std::string cause;
    std::string benchmark;
    std::string place;
    std::string library;
    std::string parameters;
    std::string metric;
    double value = 0; ///< NaN if not known
    double bound = 0;
    bool at_least = true;
};
std::vector<Row> rows_of(const std::filesystem::path& folder, const Words& more = {});

} // namespace assay::decisions
