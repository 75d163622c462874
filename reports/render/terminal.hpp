// SPDX-License-Identifier: Apache-2.0
//
// A report as plain text for a terminal or a log.

#pragma once

#include "model/view.hpp"

#include <cstddef>
#include <string>

namespace assay::report {

struct TerminalStyle {
    std::size_t width = 100; ///< columns; narrower ones are honoured down to 60
    bool colour = false;
};
std::string to_terminal(const Report& report, const TerminalStyle& style = {});

} // namespace assay::report
