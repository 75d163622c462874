// SPDX-License-Identifier: Apache-2.0
//
// Parameters that the products of cuBLASLt share.

#pragma once

#include "gemm/cublaslt_tuned.hpp"
#include "gemm/device_axes.hpp"

#include <assay/axes.hpp>

namespace assay::gemm {

template <class Params>
consteval auto precision_axis() {
    using enum DevicePrecision;
    return choice(
        "precision",
        "type of A and B; e5m2 is multiplied by e4m3; emulated: fp64 out of int8, fp32 out of bf16",
        &Params::precision,
        {{"fp64", fp64},
         {"fp32", fp32},
         {"tf32", tf32},
         {"fp16", fp16},
         {"bf16", bf16},
         {"fp8_e4m3", fp8_e4m3},
         {"fp8_e5m2", fp8_e5m2},
         {"int8", int8},
         {"mxfp8", mxfp8},
         {"nvfp4", nvfp4},
         {"fp64_emulated", fp64_emulated},
         {"fp32_emulated", fp32_emulated}});
}

template <class Params>
consteval auto accumulation_axis() {
    return choice(
        "accumulation", "accumulation of fp8 products: as exact as the chip allows, or fast",
        &Params::accumulation, {{"exact", Accumulation::exact}, {"fast", Accumulation::fast}},
        {Accumulation::exact});
}

} // namespace assay::gemm
