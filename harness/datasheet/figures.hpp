// SPDX-License-Identifier: Apache-2.0
//
// Values of data sheets, and where they come from.

#pragma once

#include <functional>
#include <map>
#include <string>

namespace assay::datasheet {

/// By precision: fp64 fp32 tf32 fp16 bf16 fp8 int8 fp4, dense; a fused multiply-add is two operations.
using ByPrecision = std::map<std::string, double, std::less<>>;

/// The source of a value, and its reliability: "retrieved", "recalled", ...
struct Origin {
    std::string source;
    std::string sure;
};
/// By the path of the value: "peaks.tensor.bf16".
using Origins = std::map<std::string, Origin, std::less<>>;

} // namespace assay::datasheet
