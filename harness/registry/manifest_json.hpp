// SPDX-License-Identifier: Apache-2.0
//
// A benchmark as its manifest holds it, for everybody who prints JSON.

#pragma once

#include "json/json.hpp"
#include "registry/manifest.hpp"

namespace assay::harness {

json::Value to_json(const Benchmark& benchmark);

} // namespace assay::harness
