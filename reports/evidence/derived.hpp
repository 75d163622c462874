// SPDX-License-Identifier: Apache-2.0
//
// What follows from the results and limits in a bundle: its verdict, and what is known of each machine. Made when the bundle
// is made, and again when it is checked.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::report {

/// Schema assay.verdict/1 without sentences: a node goes by its machine's id, paths are those in the bundle. `created`:
/// UTC, for what expires.
Result<json::Value> verdict_of_bundle(const std::filesystem::path& folder,
                                      const std::vector<std::string>& limits,
                                      const std::string& created);

/// What such a verdict decides, without what people or machines are called: equal for equal decisions.
json::Value decisions_of(const json::Value& verdict);

/// A member of an object; empty where there is none, or it is no text.
std::string member_text(const json::Value& object, const char* key);

/// Of one result, before they are put together.
struct MachineFacts {
    std::string id;
    std::string run;
    std::string started;
    json::Value machine;
};
MachineFacts machine_facts(const json::Value& document);
/// Schema assay.inventory/1: each machine as its newest run found it, and its runs.
json::Value inventory_of(std::vector<MachineFacts> facts);

/// Places where two documents differ, at most `most`. Numbers may differ in the last digits between compilers.
std::vector<std::string> differences(const json::Value& a, const json::Value& b, std::size_t most);

} // namespace assay::report
