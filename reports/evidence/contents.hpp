// SPDX-License-Identifier: Apache-2.0
//
// The small documents of a bundle, read: statement and salts. Both are from whoever made the bundle.

#pragma once

#include "evidence/statement.hpp"
#include "evidence/tree.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

namespace assay::report {

inline constexpr std::size_t most_bytes_of_list = std::size_t{256}
                                                  << 20U; ///< statement, manifest, salts
inline constexpr std::size_t most_bytes_of_file = std::size_t{1} << 30U;

/// By the path of a result.
using AllSalts = std::map<std::string, Salts, std::less<>>;

/// Fails where it is none of evidence: another type, another predicate, a path that leads out.
Result<Statement> read_statement(const std::filesystem::path& folder);
Result<AllSalts> read_salts(const std::filesystem::path& folder);
json::Value to_json(const AllSalts& salts);

/// Is a folder there that says it is a bundle?
bool is_bundle(const std::filesystem::path& path);

} // namespace assay::report
