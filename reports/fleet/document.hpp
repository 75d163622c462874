// SPDX-License-Identifier: Apache-2.0
//
// A fleet as a document: the answer, who needs a look, every node beside its fleet, and what else is to be known.

#pragma once

#include "document/document.hpp"
#include "fleet/model.hpp"

namespace assay::report {

document::Document make_document(const Fleet& fleet);

} // namespace assay::report
