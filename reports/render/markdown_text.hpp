// SPDX-License-Identifier: Apache-2.0
//
// What every Markdown output is made of.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace assay::report::markdown {

/// Text that Markdown shows as it is: nothing in it starts a link, HTML, emphasis, code or a cell.
std::string quote(std::string_view text);

/// A row of a table; cells are quoted already.
void row(std::string& out, std::initializer_list<std::string> cells);

} // namespace assay::report::markdown
