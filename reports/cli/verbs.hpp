// SPDX-License-Identifier: Apache-2.0
//
// The verbs of assay-report. Each reads, renders by reports/render, and prints or writes.

#pragma once

#include "base/result.hpp"
#include "options.hpp"

namespace assay::report {

ExitCode perform(const Options& options);

} // namespace assay::report
