// SPDX-License-Identifier: Apache-2.0
//
// What a judgement rests on, for its document: waivers, limits and where they come from, files that were not used.

#pragma once

#include "document/document.hpp"
#include "judge/judgement.hpp"

#include <vector>

namespace assay::report {

std::vector<document::Section> origins_of(const Judgement& judgement);

} // namespace assay::report
