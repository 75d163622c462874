// SPDX-License-Identifier: Apache-2.0
//
// A difference of two nodes as JSON.

#pragma once

#include "compare/diff.hpp"

#include <string>

namespace assay::report {

std::string to_json(const Diff& diff);

} // namespace assay::report
