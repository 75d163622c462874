// SPDX-License-Identifier: Apache-2.0
//
// A report as plain text for a terminal or a log.

#pragma once

#include "base/terminal.hpp"
#include "model/view.hpp"

#include <string>

namespace assay::report {

/// Widths are honoured down to 60 columns.
std::string to_terminal(const Report& report, const Terminal& style = {});

} // namespace assay::report
