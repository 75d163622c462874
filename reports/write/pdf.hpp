// SPDX-License-Identifier: Apache-2.0
//
// A page on paper: Chromium prints it as a reader would, on A4 with numbers.

#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace assay::write {

/// `html`: a page of to_html(). Fails (environment) where there is no Chromium or Chrome, or it prints nothing within two
/// minutes.
Result<std::string> to_pdf(std::string_view html);

} // namespace assay::write
