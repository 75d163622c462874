// SPDX-License-Identifier: Apache-2.0
//
// A suite: a named selection of cases and their protocol. People write the file, so an error message
// names file, key and what would be right. configs/suites/schema.json describes the format for
// editors; both must accept the same.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "json/json.hpp"
#include "plan/plan.hpp"
#include "record/protocol.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

struct SuiteParameter {
    std::string name;
    std::vector<json::Value> values; ///< one or more; checked against the benchmark by the plan
};

/// Demands of an entry on a machine; if unmet, its cases are left out at no cost.
ASSAY_ENUM(Need, hosts, devices, rdma)

struct SuiteCase {
    std::string benchmark;
    std::string library;                    ///< empty: every module that has the benchmark
    std::vector<SuiteParameter> parameters; ///< those left out take all their defaults
    record::Protocol protocol;              ///< the suite's, with the entry's changes
    std::vector<Need> needs{};
    std::string together;   ///< as in PlanRequest; in the file a number stands for cpus:N
    bool is_stress = false; ///< of the last stage
    DeviceUse devices = DeviceUse::usual;
};

struct Suite {
    std::string source; ///< names the file in messages
    std::string
        digest; ///< SHA-256 of its canonical JSON: blanks and the order of keys do not count
    bool is_frozen = false;
    std::string name;
    std::string description;
    record::Protocol protocol;
    int replicas = 3;
    std::optional<double> patience_seconds; ///< see Plan
    std::optional<double> most_seconds;     ///< see Plan
    bool has_stages = false;                ///< see Plan
    std::optional<double> soak_seconds;     ///< see Plan
    std::vector<SuiteCase> cases;
};

/// Names of suites that no longer change, so that results of years are of the same cases, with the digests of their
/// content: share/assay/suites/frozen.json.
using FrozenSuites = std::map<std::string, std::string>;
Result<FrozenSuites> read_frozen(const std::filesystem::path& path);
/// Those that come with the program; none where the file is missing.
Result<FrozenSuites> frozen_suites();

/// A suite with the name of a frozen one and another content is an error.
Result<Suite> read_suite(const std::filesystem::path& path);
/// The same from text; `source` names it in messages.
Result<Suite> parse_suite(std::string_view text, std::string_view source,
                          const FrozenSuites& frozen = {});

/// The suites that come with the program, by name, in order.
std::vector<std::string> suite_names();
/// The file of `what`: a path (with a slash or ending in .json), one of suite_names() or a name that one had before.
/// Empty if it is neither.
std::filesystem::path find_suite(std::string_view what);

} // namespace assay::plan
