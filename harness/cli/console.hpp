// SPDX-License-Identifier: Apache-2.0
//
// Output of the program; only main.cpp and the verbs print.

#pragma once

#include "base/console.hpp"
#include "base/result.hpp"
#include "base/terminal.hpp"

#include <string>

namespace assay::cli {

/// Prints `assay: ...` on stderr and returns the code for it.
ExitCode report(const Error& error);

/// "1:05" or "2:03:04": minutes and seconds, with hours if there are any.
std::string clock_text(double seconds);

} // namespace assay::cli
