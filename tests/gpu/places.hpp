// SPDX-License-Identifier: Apache-2.0
//
// Where gpu-check finds and puts things: its tree, programs, a folder to work in.

#pragma once

#include "steps.hpp"

#include <cstddef>
#include <filesystem>
#include <string>

namespace assay::gpu {

/// Tree of the package, or of the build folder that this program is in.
Tree find_tree();
/// A program on PATH, or where NVIDIA's installers put theirs; empty if not found.
std::string found(const std::string& program);
/// Empty where it cannot be read, or has more than `most` bytes.
std::string text_of(const std::filesystem::path& path, std::size_t most = std::size_t{64} << 20U);
/// A name that every file system takes.
std::string file_name(std::string name);
/// The driver's own file is there, that of WSL, or its tool.
bool may_have_device();
/// A folder for files that stay on this machine; in `out` if temporary files have no room. Empty: none could be made.
std::filesystem::path make_work_folder(const std::filesystem::path& out);

} // namespace assay::gpu
