// SPDX-License-Identifier: Apache-2.0
//
// A comparison as a document: verdict, ranking, families, every test case.

#pragma once

#include "compare/comparison.hpp"
#include "document/document.hpp"

#include <cstdint>

namespace assay::report {

/// What rates stand for: the whole machine, or what alternatives.hpp made of them.
enum class Scale : std::uint8_t { machine, core };

document::Document make_document(const Comparison& comparison, Scale scale = Scale::machine);

/// Do sides have other numbers of cores than the first, as far as they are known?
bool cores_differ(const Comparison& comparison);

} // namespace assay::report
