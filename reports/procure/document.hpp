// SPDX-License-Identifier: Apache-2.0
//
// A procurement report as a document and as data.

#pragma once

#include "document/document.hpp"
#include "procure/procurement.hpp"

#include <string>

namespace assay::report {

document::Document make_document(const Procurement& found);
std::string to_json(const Procurement& found);

} // namespace assay::report
