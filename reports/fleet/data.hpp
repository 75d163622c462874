// SPDX-License-Identifier: Apache-2.0
//
// A fleet for programs. Codes are the same in every language.

#pragma once

#include "fleet/model.hpp"

#include <string>

namespace assay::report {

/// Schema assay.fleet/1 (schema/fleet.json).
std::string to_json(const Fleet& fleet, int exit_code);
/// A row for each node, benchmark of the map and value.
std::string to_csv(const Fleet& fleet);

} // namespace assay::report
