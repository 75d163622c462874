// SPDX-License-Identifier: Apache-2.0
//
// Instructions that multiply matrices, by a warp together: mma.sync of NVIDIA's PTX ISA, and MFMA of AMD's CDNA ISA.

#pragma once

#include <cstdint>

namespace assay::device {

/// c += a b. NVIDIA's have 32 lanes, AMD's (16 x 16) have 64. Sparse: of each four neighbours in a row of a two are given
/// (of tf32, of each two one), and a fifth register of a is the metadata that says which. fp16_fp16: sums are fp16, two
/// of them in a register.
enum class Mma : std::uint8_t {
    m16n8k8_tf32,
    m16n8k16_fp16,
    m16n8k16_bf16,
    m16n8k32_int8,
    m16n8k32_e4m3,
    m16n8k32_e5m2,
    m16n8k16_fp64,
    m8n8k4_fp64,
    m16n16k16_fp16,
    m16n16k16_bf16,
    m16n16k16_int8, ///< CDNA2
    m16n16k32_int8, ///< CDNA3 and later
    m16n16k4_fp64,
    m16n16k4_fp32,
    m16n16k8_xf32,      ///< CDNA3 alone
    m16n16k32_e4m3fnuz, ///< CDNA3 alone, as the next
    m16n16k32_e5m2fnuz,
    m16n16k32_e4m3, ///< CDNA4 and later, as the next
    m16n16k32_e5m2,
    m16n8k16_fp16_fp16,
    m16n8k16_tf32_sparse,
    m16n8k32_fp16_sparse,
    m16n8k32_bf16_sparse,
    m16n8k64_int8_sparse,
    m16n8k64_e4m3_sparse,
    m16n8k64_e5m2_sparse,
    m16n8k32_fp16_fp16_sparse
};

} // namespace assay::device
