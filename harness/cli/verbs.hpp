// SPDX-License-Identifier: Apache-2.0
//
// The verbs of the program. Each does its work through harness/core and prints; none knows how.

#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"

namespace assay::cli {

ExitCode perform(const Options& options);

ExitCode write_manifest(const Options& options);

/// Prints the error as `assay: ...` on stderr and returns the code for it.
ExitCode report(const Error& error);

} // namespace assay::cli
