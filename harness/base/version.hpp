// SPDX-License-Identifier: Apache-2.0
//
// The version of assay, from CMakeLists.txt: printed by the programs and recorded in results.

#pragma once

#include <string_view>

namespace assay {

std::string_view version();

} // namespace assay
