// SPDX-License-Identifier: Apache-2.0
//
// A comparison as a document: verdict, ranking, families, every test case.

#pragma once

#include "compare/comparison.hpp"
#include "document/document.hpp"

namespace assay::report {

document::Document make_document(const Comparison& comparison);

} // namespace assay::report
