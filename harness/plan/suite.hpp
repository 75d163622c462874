// SPDX-License-Identifier: Apache-2.0
//
// A suite: a named selection of cases and their protocol. People write the file, so an error message
// names file, key and what would be right. configs/suites/schema.json describes the format for
// editors; both must accept the same.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"
#include "measure/protocol.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

struct SuiteParameter {
    std::string name;
    std::vector<json::Value> values; ///< one or more; checked against the benchmark by the plan
};

struct SuiteCase {
    std::string benchmark;
    std::string library;                    ///< empty: every module that has the benchmark
    std::vector<SuiteParameter> parameters; ///< those left out take all their defaults
    measure::Protocol protocol;             ///< the suite's, with the entry's changes
};

struct Suite {
    std::string source; ///< names the file in messages
    std::string name;
    std::string description;
    measure::Protocol protocol;
    int replicas = 3;
    std::optional<double> patience_seconds; ///< see Plan
    std::vector<SuiteCase> cases;
};

Result<Suite> read_suite(const std::filesystem::path& path);
/// The same from text; `source` names it in messages.
Result<Suite> parse_suite(std::string_view text, std::string_view source);

/// The suites that come with the program, by name, in order.
std::vector<std::string> suite_names();
/// The file of `what`: a path (with a slash or ending in .json) or one of suite_names(). Empty if it is
/// neither.
std::filesystem::path find_suite(std::string_view what);

} // namespace assay::harness
