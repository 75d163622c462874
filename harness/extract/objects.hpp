// SPDX-License-Identifier: Apache-2.0
//
// JSON within other text: where it begins and ends, and numbers that JSON does
// not have.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::extract {

/// Where JSON begins: other programs, and the program's own warnings, write in
/// front of it. npos: nowhere.
std::size_t json_begin(std::string_view text);
/// Behind the bracket that closes the one at `begin`; npos where it is never
/// closed.
std::size_t document_end(std::string_view text, std::size_t begin);
/// With NaN and Infinity as texts; bytes outside UTF-8 are replaced if `ascii`.
std::string repaired(std::string_view text, bool ascii = false);

} // namespace assay::extract
