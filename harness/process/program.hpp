// SPDX-License-Identifier: Apache-2.0
//
// What a process starts from: programs on PATH, and the inherited environment.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

/// Of this process, as "NAME=value".
std::vector<std::string> own_environment();
/// "NAME" of "NAME=value"
std::string_view variable_name(std::string_view entry);
/// The value of `name` among "NAME=value" entries, or null.
const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

/// A program on PATH; empty when there is none.
std::filesystem::path find_program(std::string_view name, std::string_view path);
/// The same on the PATH of this process.
std::filesystem::path find_launcher(std::string_view name);

} // namespace assay::harness
