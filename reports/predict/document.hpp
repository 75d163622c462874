// SPDX-License-Identifier: Apache-2.0
//
// A prediction as a document.

#pragma once

#include "document/document.hpp"
#include "predict/prediction.hpp"

#include <string>

namespace assay::predict {

document::Document make_document(const Prediction& prediction);

// --- prediction data -----------------------------------------------------------------------------
// A prediction as JSON and as CSV.

std::string to_json(const Prediction& prediction);
/// A row for each curve and size.
std::string to_csv(const Prediction& prediction);

} // namespace assay::predict
