// SPDX-License-Identifier: Apache-2.0
//
// The program that a description needs: where it is, which version it has, and which devices it may touch.

#pragma once

#include "external/description.hpp"

#include <string>

namespace assay::external {

/// Its path, in PATH and where system programs are; empty if not found.
std::string find_program(const std::string& name);

/// "3.33"; throws where the program does not say it as it should. Asked once for each description.
std::string version_of(const Description& description, const std::string& program);

/// "3.9" is below "3.33".
bool is_below(std::string_view version, std::string_view least);

/// Why these arguments may not be used: one names a block device that nobody allowed (ASSAY_ALLOW_DEVICE, which
/// `--allow-device` sets), or that is in use. Empty: they may.
std::string why_not_touched(const Arguments& arguments);

} // namespace assay::external
