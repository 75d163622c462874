// SPDX-License-Identifier: Apache-2.0
//
// A judgement as a document: of one node every check, of many those that are not PASS.

#pragma once

#include "document/document.hpp"
#include "judge/judge.hpp"

#include <vector>

namespace assay::report {

document::Document make_document(const Judgement& judgement);

/// What it rests on: waivers, limits and where they come from, files that were not used.
std::vector<document::Section> origins_of(const Judgement& judgement);

} // namespace assay::report
