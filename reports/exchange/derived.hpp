// SPDX-License-Identifier: Apache-2.0
//
// What follows from the results and limits in a bundle: its verdict. Made when the bundle is made, and again when it is checked.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::report {

/// Schema assay.verdict/1 without sentences: a node goes by its machine's id, paths are those in the bundle. `created`:
/// UTC, for what expires.
Result<json::Value> verdict_of_bundle(const std::filesystem::path& bundle,
                                      const std::string& created);

/// Places where two documents differ, at most `most`. Numbers may differ in the last digits between compilers.
std::vector<std::string> differences(const json::Value& a, const json::Value& b, std::size_t most);

} // namespace assay::report
