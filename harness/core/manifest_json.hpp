// SPDX-License-Identifier: Apache-2.0
//
// A benchmark as its manifest holds it, for everybody who prints JSON.

#pragma once

#include "core/manifest.hpp"
#include "json/json.hpp"

namespace assay::core {

json::Value to_json(const Benchmark& benchmark);

} // namespace assay::core
