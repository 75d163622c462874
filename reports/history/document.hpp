// SPDX-License-Identifier: Apache-2.0
//
// A history as a document: what changed, since when and why; then each instance type.

#pragma once

#include "document/document.hpp"
#include "history/history.hpp"

#include <string>

namespace assay::report {

document::Document make_document(const History& history);

/// The answer in a sentence or two, made of the same events as the details: the most serious change that was found; or
/// that nothing changed, and what would have been found.
std::string verdict_of(const History& history);

} // namespace assay::report
