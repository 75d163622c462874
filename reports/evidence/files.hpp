// SPDX-License-Identifier: Apache-2.0
//
// What a bundle consists of: names of its files, what is in its folder, and the list of their digests. A bundle may come
// from anybody: no path of it leads out of its folder, and what is no plain file is not opened.

#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

inline constexpr const char* manifest_file =
    "manifest.sha256"; ///< of every file but itself and the signature
inline constexpr const char* statement_file = "statement.json"; ///< in-toto Statement v1
inline constexpr const char* signature_file = "statement.json.sig";
inline constexpr const char* verdict_file = "verdict.json";
inline constexpr const char* inventory_file = "inventory.json";
inline constexpr const char* salts_file = "salts.json";
inline constexpr std::string_view results_folder =
    "results/"; ///< results/0001/run.json, results/0001/logs/...
inline constexpr std::string_view limits_folder =
    "limits/"; ///< limits/01-NAME.json, in the order of their layers

bool is_result(std::string_view path);
bool is_log(std::string_view path);

/// Why a path cannot be one of a bundle, in words; empty: it can. Relative, at most 500 bytes of UTF-8, no `..`.
std::string fault_of_path(std::string_view path);

struct BundleFiles {
    std::set<std::string> regular; ///< paths below the folder
    std::set<std::string> others;  ///< links, pipes, devices
};
/// Links are not followed. Fails where there are more files than any bundle has.
Result<BundleFiles> files_of_bundle(const std::filesystem::path& folder);

struct ManifestLine {
    std::string path;
    std::string sha256; ///< 64 digits
    bool operator==(const ManifestLine&) const = default;
};
/// As sha256sum writes and `sha256sum -c` reads it, in the order of paths, each once.
std::string to_manifest(const std::vector<ManifestLine>& lines);
Result<std::vector<ManifestLine>> parse_manifest(std::string_view text, std::string_view source);

/// Lower-case hexadecimal of SHA-256.
bool is_digest(std::string_view text);

} // namespace assay::report
