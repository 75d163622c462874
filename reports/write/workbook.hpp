// SPDX-License-Identifier: Apache-2.0
//
// Documents as a workbook (xlsx), for people who go on calculating. Every number is one, in SI base units; formats show
// prefixes. Equal data make equal files.

#pragma once

#include "base/result.hpp"
#include "document/document.hpp"

#include <span>
#include <string>

namespace assay::write {

/// The bytes of the file. Fails where a temporary file cannot be written.
Result<std::string> to_workbook(std::span<const document::Document> documents);

} // namespace assay::write
