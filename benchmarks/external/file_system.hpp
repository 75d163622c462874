// SPDX-License-Identifier: Apache-2.0
//
// What the folder is on that a program reads and writes.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::external {

/// "ext4", "nfs4", "fuse.sshfs": the type of the mount that holds `path`, which is absolute and without links, by the
/// text of /proc/self/mountinfo; empty where that does not say.
std::string file_system_in(std::string_view mounts, std::string_view path);
/// The same of this system.
std::string file_system_of(const std::filesystem::path& folder);

/// Can this file be read past the page cache?
bool has_direct_io(const std::filesystem::path& file);
/// Why files of this folder cannot be; empty where they can.
std::string why_no_direct_io(const std::filesystem::path& folder);

} // namespace assay::external
