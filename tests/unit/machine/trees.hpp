// SPDX-License-Identifier: Apache-2.0
//
// Machines that we do not have: what their kernels show, as folders under trees/.

#pragma once

#include "machine/files.hpp"
#include "scratch.hpp"

#include <filesystem>
#include <string_view>

namespace assay::machine {

inline std::filesystem::path tree_path(std::string_view name) {
    return std::filesystem::path{ASSAY_TREES} / name;
}
inline Files tree(std::string_view name) { return Files{tree_path(name)}; }

} // namespace assay::machine
