// SPDX-License-Identifier: Apache-2.0
//
// Reports as Markdown (GitHub's tables): for issues, wikis and chat.

#pragma once

#include "model/view.hpp"

#include <span>
#include <string>

namespace assay::report {

std::string to_markdown(std::span<const Report> reports);

} // namespace assay::report
