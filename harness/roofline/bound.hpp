// SPDX-License-Identifier: Apache-2.0
//
// What a case on a device can be held back by, as its benchmark declares (assay_bound in assay/module.h) and what it
// told of the case as evidence: arithmetic in one precision, the device's memory, the link to its host, or those to
// other devices. Knows no benchmark.

#pragma once

#include "record/model.hpp"
#include "registry/manifest.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::harness {

struct PrecisionName {
    std::string_view parameter; ///< value of a benchmark's parameter `precision`
    std::string_view hardware;  ///< how configs/hardware calls its rate
};
/// Emulated precisions are not here: no data sheet has a figure for them.
inline constexpr std::array precision_names{
    PrecisionName{"fp64", "fp64"},    PrecisionName{"fp32", "fp32"},
    PrecisionName{"tf32", "tf32"},    PrecisionName{"fp16", "fp16"},
    PrecisionName{"bf16", "bf16"},    PrecisionName{"fp8_e4m3", "fp8"},
    PrecisionName{"fp8_e5m2", "fp8"}, PrecisionName{"int8", "int8"},
    PrecisionName{"mxfp8", "fp8"},    PrecisionName{"nvfp4", "fp4"},
};

enum class Limit : std::uint8_t {
    none,
    arithmetic,
    memory,
    link,   ///< to its host
    nvlink, ///< to other devices
    peer    ///< to other devices, by whichever of the two there is
};

struct Bound {
    Limit limit = Limit::none;
    std::string precision; ///< as configs/hardware calls it
    bool matrices = false; ///< products of matrices, which tensor engines can do
    int ways = 1;          ///< directions of the link in use at once
    bool several = false;  ///< of all devices that take part the slowest decides
    std::string reason;    ///< why there is no limit to name; may be empty
};

/// `l2_bytes` is the device's last cache as its data sheet has it, for cases that do not tell it themselves:
/// what fits into it is not held back by memory.
Bound bound_of(BoundBy by, const record::Case& c, std::optional<double> l2_bytes);

} // namespace assay::harness
