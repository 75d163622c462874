// SPDX-License-Identifier: Apache-2.0
//
// A prediction as a document.

#pragma once

#include "document/document.hpp"
#include "predict/prediction.hpp"

namespace assay::report {

document::Document make_document(const Prediction& prediction);

} // namespace assay::report
