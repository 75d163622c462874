// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "write/html.hpp"

namespace assay::report {

using write::escape_html;

} // namespace assay::report
