// SPDX-License-Identifier: Apache-2.0
//
// Parts of a bundle: names of its files, the contents of its folder, and the list of their digests. A bundle may come
// from anybody: no path of it leads out of its folder, and only plain files are opened.

#pragma once

#include "base/result.hpp"
#include "json/codec.hpp"
#include "json/json.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::exchange {

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

/// Contents of bundle.json.
struct AboutBundle {
    std::string schema = "assay.bundle/1";
    std::string version; ///< of assay, that made it
    std::string created; ///< UTC; the day that limits and waivers were judged on
};
ASSAY_FIELDS(AboutBundle, schema, version, created)

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
/// Reads the format of sha256sum and `sha256sum -c`, in the order of paths, each once.
Result<Manifest> parse_manifest(std::string_view text, std::string_view source);
/// Writes the manifest of all files in the folder.
Result<void> write_manifest(const std::filesystem::path& folder);

// --- signature -----------------------------------------------------------------------------------
// Signatures by ssh-keygen (OpenSSH 8.2 or later), which holds the keys: no private key is read here.

inline constexpr const char* signature_namespace = "assay";

/// Writes FILE.sig. `key`: a private key, or a public one whose private half an agent holds. ssh-keygen may ask for a
/// passphrase on the terminal.
Result<void> sign(const std::filesystem::path& file, const std::filesystem::path& key);

struct SignatureCheck {
    bool holds = false;
    std::string signer;  ///< as `signers` has it; empty where nobody said whose the key is
    std::string details; ///< what ssh-keygen said
};
/// `signers`: an allowed_signers file of ssh-keygen; where empty, any
/// key will do. Fails where ssh-keygen cannot be run.
Result<SignatureCheck> check_signature(const std::filesystem::path& file,
                                       const std::filesystem::path& signature,
                                       const std::filesystem::path& signers);

// --- derived ------------------------------------------------------------------------------------- What follows from
// the results and limits in a bundle: its verdict. Made when the bundle is made, and again when it is checked.

/// Schema assay.verdict/1 without sentences: a node goes by its machine's id, paths are those in the bundle. `created`:
/// UTC, for what expires.
Result<json::Value> verdict_of_bundle(const std::filesystem::path& bundle,
                                      const std::string& created);

/// Places where two documents differ, at most `most`. Numbers may differ in the last digits between compilers.
std::vector<std::string> differences(const json::Value& a, const json::Value& b, std::size_t most);

} // namespace assay::exchange
