// SPDX-License-Identifier: Apache-2.0
//
// A difference of two nodes as a document.

#pragma once

#include "compare/diff.hpp"
#include "document/document.hpp"

#include <string>

namespace assay::report {

document::Document make_document(const Diff& diff);
/// "B differs from A in 2 settings and 1 firmware version; 1 of these matters: ..."
std::string verdict_of(const Diff& diff);

} // namespace assay::report
