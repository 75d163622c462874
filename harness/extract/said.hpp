// SPDX-License-Identifier: Apache-2.0
//
// How programs say that their data are wrong: words that no description has to
// repeat.

#pragma once

#include <string_view>

namespace assay::extract {

/// Does a line of any program say that data are wrong? "0 errors" does not.
bool says_wrong(std::string_view line);
/// Does it name an error at all?
bool says_trouble(std::string_view line);

} // namespace assay::extract
