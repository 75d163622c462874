// SPDX-License-Identifier: Apache-2.0
//
// What is written last into a bundle: the statement about its files, and their digests.

#pragma once

#include "evidence/contents.hpp"

#include <filesystem>

namespace assay::report {

/// Of results, limits, verdict and logs that are there. The predicate's results are made here.
Result<Statement> state(const std::filesystem::path& folder, const AllSalts& salts,
                        EvidencePredicate predicate);
/// salts.json, and statement.json where there is one to write; then the manifest of all files.
Result<void> seal(const std::filesystem::path& folder, const AllSalts& salts,
                  const Statement* statement);

} // namespace assay::report
