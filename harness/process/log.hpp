// SPDX-License-Identifier: Apache-2.0
//
// What a launcher or an MPI library complained of, in one sentence: they say it in twenty lines of a log,
// of which the last is advice on how to see more of them.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::harness {

/// Empty where the text holds no complaint that we know.
std::string complaint_in_text(std::string_view text);
std::string complaint_in(const std::filesystem::path& log);

} // namespace assay::harness
