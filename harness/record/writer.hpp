// SPDX-License-Identifier: Apache-2.0
//
// Writes run.json: atomically, and with numbers that read back exactly.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <string>

namespace assay::record {

std::string to_text(const Run& run);
Result<void> write_run(const std::filesystem::path& path, const Run& run);

} // namespace assay::record
