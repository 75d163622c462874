// SPDX-License-Identifier: Apache-2.0
//
// A judgement as a document: of one node every check, of many those that are not PASS.

#pragma once

#include "document/document.hpp"
#include "judge/judge.hpp"

namespace assay::report {

document::Document make_document(const Judgement& judgement);

} // namespace assay::report
