// SPDX-License-Identifier: Apache-2.0
//
// The report of a run, as a document for every format: what it reached, whether to trust that, each value, and what they
// rest on.

#pragma once

#include "document/document.hpp"
#include "report/types.hpp"

#include <vector>

namespace assay::report {

document::Document make_document(const Report& report);

/// The part of it that has the values: a section for each family (scorecard.cpp).
std::vector<document::Section> scorecard(const Report& report);

} // namespace assay::report
