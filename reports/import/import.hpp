// SPDX-License-Identifier: Apache-2.0
//
// Another tool's result, made into a run. Whatever the text holds, the answer is a run with what was
// not understood beside it, or one message that says what is wrong with the file.

#pragma once

#include "base/result.hpp"
#include "import/types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::imports {

/// `source` is the file's name; its folders are not kept.
Result<Import> import_text(std::string_view text, std::string_view source,
                           const ImportOptions& options = {});

/// The tools whose descriptions are known, in alphabetical order.
std::vector<std::string> tools();

} // namespace assay::imports
