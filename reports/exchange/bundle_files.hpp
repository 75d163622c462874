// SPDX-License-Identifier: Apache-2.0
//
// What a bundle consists of: names of its files, what is in its folder, and the list of their digests. A bundle may come
// from anybody: no path of it leads out of its folder, and what is no plain file is not opened.

#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace assay::report {

inline constexpr const char* manifest_file =
    "manifest.sha256"; ///< of every file but itself and its signature
inline constexpr const char* signature_file = "manifest.sha256.sig";
inline constexpr const char* about_file = "bundle.json";
inline constexpr const char* verdict_file = "verdict.json";
inline constexpr const char* earlier_file = "statement.json"; ///< in bundles of earlier versions
inline constexpr std::string_view results_folder =
    "results/"; ///< results/0001/run.json, results/0001/logs/...
inline constexpr std::string_view limits_folder =
    "limits/"; ///< limits/001-NAME.json, in the order of their layers

inline constexpr std::size_t most_bytes_of_list = std::size_t{256} << 20U; ///< manifest, limits
inline constexpr std::size_t most_bytes_of_file = std::size_t{1} << 30U;

bool is_result(std::string_view path);
/// Is a folder there that says it is a bundle?
bool is_bundle(const std::filesystem::path& path);

/// Why a path cannot be one of a bundle, in words; empty: it can. Relative, at most 500 bytes of UTF-8, no `..`.
std::string fault_of_path(std::string_view path);

struct BundleFiles {
    std::set<std::string> regular; ///< paths below the folder
    std::set<std::string> others;  ///< links, pipes, devices
};
/// Links are not followed. Fails where there are more files than any bundle has.
Result<BundleFiles> files_of_bundle(const std::filesystem::path& folder);

/// SHA-256 in lower-case hexadecimal, by path.
using Manifest = std::map<std::string, std::string, std::less<>>;
/// As sha256sum writes and `sha256sum -c` reads it, in the order of paths, each once.
Result<Manifest> parse_manifest(std::string_view text, std::string_view source);
/// Of all files that are in the folder.
Result<void> write_manifest(const std::filesystem::path& folder);

} // namespace assay::report
