// SPDX-License-Identifier: Apache-2.0
//
// A prediction as text for a terminal, as Markdown, as a page, as JSON and as CSV.

#pragma once

#include "predict/prediction.hpp"
#include "render/terminal.hpp"

#include <string>

namespace assay::report {

std::string to_terminal(const Prediction& prediction, const Terminal& style = {});
std::string to_markdown(const Prediction& prediction);
std::string to_html(const Prediction& prediction);
std::string to_json(const Prediction& prediction);
/// A row for each curve and size.
std::string to_csv(const Prediction& prediction);

} // namespace assay::report
