// SPDX-License-Identifier: Apache-2.0
//
// Files that are whole or absent, and the project's own files found relative to the program.

#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

/// Writes to a temporary name beside `path`, flushes to disk, renames. An error leaves what was there.
Result<void> write_atomically(const std::filesystem::path& path, std::string_view content);

/// Writes all of it, however often the system stops in between; false leaves the reason in errno.
bool write_all(int descriptor, std::string_view content);

/// Makes new names in this folder survive a power cut. Best effort: some file systems refuse it.
void flush_folder(const std::filesystem::path& folder);

/// The whole file; an error when it is larger than `limit` bytes, missing or not a regular file.
Result<std::string> read_whole(const std::filesystem::path& path, std::size_t limit);

/// Folders relative to the running executable: bin/ -> lib/assay, share/assay. The same in the
/// build tree, the installed tree and the package.
struct Layout {
    std::filesystem::path programs; ///< bin
    std::filesystem::path modules;  ///< lib/assay
    std::filesystem::path share;    ///< share/assay: suites, schemas
};
Layout layout();

/// UTC now as 2026-01-31T12:34:56Z.
std::string utc_now();

} // namespace assay
