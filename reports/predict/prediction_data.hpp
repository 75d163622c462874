// SPDX-License-Identifier: Apache-2.0
//
// A prediction as JSON and as CSV.

#pragma once

#include "predict/prediction.hpp"

#include <string>

namespace assay::report {

std::string to_json(const Prediction& prediction);
/// A row for each curve and size.
std::string to_csv(const Prediction& prediction);

} // namespace assay::report
