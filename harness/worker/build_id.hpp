// SPDX-License-Identifier: Apache-2.0
//
// Which build of a module is this? A rebuilt module gets another id, so that a run is not continued
// with other code than it began with.

#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>

namespace assay::harness {

/// The linker's build id of the loaded library that holds `address`, in hexadecimal; a hash of the
/// bytes of `file` where it has none.
Result<std::string> build_id(const std::filesystem::path& file, const void* address);

} // namespace assay::harness
