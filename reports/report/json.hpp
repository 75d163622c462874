// SPDX-License-Identifier: Apache-2.0
//
// What a report says, for programs: the view model as JSON, schema assay.report/1. Figures as numbers are
// in run.json; here are the words and numbers that people are shown, and the findings.

#pragma once

#include "report/types.hpp"

#include <span>
#include <string>

namespace assay::report {

std::string to_json(std::span<const Report> reports);

} // namespace assay::report
