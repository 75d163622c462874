// SPDX-License-Identifier: Apache-2.0
//
// A report as a workbook (xlsx), for people who go on calculating. Every number
// is one, in SI base units; formats show prefixes. Equal data make equal files.

#pragma once

#include "base/result.hpp"
#include "model/view.hpp"

#include <span>
#include <string>

namespace assay::report {

/// The bytes of the file. Fails where a temporary file cannot be written.
Result<std::string> to_workbook(std::span<const Report> reports);

} // namespace assay::report
