// SPDX-License-Identifier: Apache-2.0
//
// A matrix product in the types and scales of cuBLASLt, by one plain loop, for cublaslt.cpp and rocblas.cpp.

#pragma once

#include "fault.hpp"

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::device_on_cpu {

// --- what the handles stand for ------------------------------------------------------------------------

struct Emulation {
    std::int32_t strategy = CUBLAS_EMULATION_STRATEGY_DEFAULT;
    std::int32_t control = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
    std::int32_t* mantissa_bits = nullptr;
};
struct Scales {
    std::int32_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
    const void* data = nullptr;
    /// Elements that share one; 0: all.
    std::int64_t block() const {
        return mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3   ? 16
               : mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 ? 32
                                                                  : 0;
    }
};
struct Operation {
    cublasComputeType_t compute{};
    cudaDataType_t scale{};
    cublasOperation_t transpose_a = CUBLAS_OP_N;
    cublasOperation_t transpose_b = CUBLAS_OP_N;
    std::int8_t fast_accumulation = 0;
    Scales a{};
    Scales b{};
    const Emulation* emulation = nullptr;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void* bias = nullptr;

    bool has_bias() const { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
    bool has_gelu() const { return (epilogue & CUBLASLT_EPILOGUE_GELU) != 0; }
    bool is_emulated() const {
        return compute == CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT ||
               compute == CUBLAS_COMPUTE_32F_EMULATED_16BFX9;
    }
};
struct Layout {
    cudaDataType_t type{};
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::int64_t leading = 0;
};
struct Preference {
    std::uint64_t workspace = 0;
    std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
};

// --- numbers -------------------------------------------------------------------------------------------

inline std::int64_t bits_of(cudaDataType_t type) {
    switch (type) {
    case CUDA_R_64F:
        return 64;
    case CUDA_R_32F:
    case CUDA_R_32I:
        return 32;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 16;
    case CUDA_R_4F_E2M1:
        return 4;
    default:
        return 8;
    }
}

template <class Sum>
Sum load(cudaDataType_t type, const void* data, std::int64_t i) {
    const auto fp8 = [&](__nv_fp8_interpretation_t format) {
        return static_cast<Sum>(__half2float(__half{
            __nv_cvt_fp8_to_halfraw(static_cast<const __nv_fp8_storage_t*>(data)[i], format)}));
    };
    switch (type) {
    case CUDA_R_64F:
        return static_cast<Sum>(static_cast<const double*>(data)[i]);
    case CUDA_R_32F:
        return static_cast<Sum>(static_cast<const float*>(data)[i]);
    case CUDA_R_16F:
        return static_cast<Sum>(__half2float(static_cast<const __half*>(data)[i]));
    case CUDA_R_16BF:
        return static_cast<Sum>(__bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]));
    case CUDA_R_8F_E4M3:
        return fp8(__NV_E4M3);
    case CUDA_R_8F_E5M2:
        return fp8(__NV_E5M2);
    case CUDA_R_4F_E2M1: { // the first of two is the lower half of a byte
        const unsigned pair = static_cast<const std::uint8_t*>(data)[i / 2];
        const auto code = static_cast<__nv_fp4_storage_t>(i % 2 == 0 ? pair & 0xfU : pair >> 4U);
        return static_cast<Sum>(__half2float(__half{__nv_cvt_fp4_to_halfraw(code, __NV_E2M1)}));
    }
    case CUDA_R_32I:
        return static_cast<Sum>(static_cast<const std::int32_t*>(data)[i]);
    default:
        return static_cast<Sum>(static_cast<const std::int8_t*>(data)[i]);
    }
}

template <class Sum>
void store(cudaDataType_t type, void* data, std::int64_t i, Sum value) {
    switch (type) {
    case CUDA_R_64F:
        static_cast<double*>(data)[i] = static_cast<double>(value);
        break;
    case CUDA_R_32F:
        static_cast<float*>(data)[i] = static_cast<float>(value);
        break;
    case CUDA_R_16F:
        static_cast<__half*>(data)[i] = __float2half_rn(static_cast<float>(value));
        break;
    case CUDA_R_16BF:
        static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(static_cast<float>(value));
        break;
    default:
        static_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(value);
    }
}

/// The scale of a block of a row of `inner` elements: in tiles of 128 rows by 4 blocks, of which every 32nd row lies
/// side by side ("1D block scaling factors layout" of cuBLAS).
inline float scale_at(const Scales& scales, std::int64_t row, std::int64_t block,
                      std::int64_t inner) {
    const std::int64_t tiles_in_row = (inner / scales.block() + 3) / 4;
    std::int64_t at = (row / 128 * tiles_in_row + block / 4) * 512;
    at += row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
    if (has_fault("cublaslt_scales")) at = row * tiles_in_row * 4 + block;
    if (scales.block() == 32) {
        const auto code = static_cast<const std::uint8_t*>(scales.data)[at];
        return std::ldexp(1.0F, code - 127);
    }
    return load<float>(CUDA_R_8F_E4M3, scales.data, at);
}

// --- one product ---------------------------------------------------------------------------------------

struct Problem {
    Operation operation;
    Layout a;
    Layout b;
    Layout c;
    Layout d;

    std::int64_t m() const { return static_cast<std::int64_t>(d.rows); }
    std::int64_t n() const { return static_cast<std::int64_t>(d.columns); }
    /// Does a column of the layout run along k?
    bool a_is_along_k() const { return operation.transpose_a == CUBLAS_OP_T; }
    bool b_is_along_k() const { return operation.transpose_b == CUBLAS_OP_N; }
    std::int64_t k() const {
        return static_cast<std::int64_t>(a_is_along_k() ? a.rows : a.columns);
    }
};

/// Row after row of A, or column after column of B: its elements along k, times their scales.
template <class Sum>
std::vector<Sum> operand(const Layout& layout, bool is_along_k, const Scales& scales,
                         const void* data) {
    const auto outer = static_cast<std::int64_t>(is_along_k ? layout.columns : layout.rows);
    const auto k = static_cast<std::int64_t>(is_along_k ? layout.rows : layout.columns);
    std::vector<Sum> all(static_cast<std::size_t>(outer * k));
    const std::int64_t block = scales.block();
    const bool scaled = block == 0 && scales.data != nullptr;
    const float common = scaled ? *static_cast<const float*>(scales.data) : 1;
    for (std::int64_t row = 0; row < outer; ++row) {
        float scale = common;
        for (std::int64_t l = 0; l < k; ++l) {
            if (block != 0 && l % block == 0) scale = scale_at(scales, row, l / block, k);
            all[static_cast<std::size_t>(row * k + l)] =
                load<Sum>(layout.type, data,
                          is_along_k ? row * layout.leading + l : l * layout.leading + row) *
                static_cast<Sum>(scale);
        }
    }
    return all;
}

template <class Sum>
struct Call {
    Problem problem;
    std::int32_t splits;
    Sum alpha;
    Sum beta;
    const void* a;
    const void* b;
    const void* c;
    void* d;
    void* workspace;

    void operator()() const {
        const std::int64_t m = problem.m();
        const std::int64_t n = problem.n();
        const std::int64_t k = problem.k();
        const auto& op = problem.operation;
        const auto rows = operand<Sum>(problem.a, problem.a_is_along_k(), op.a, a);
        const auto columns = operand<Sum>(problem.b, problem.b_is_along_k(), op.b, b);
        std::vector<Sum> own(splits == 1 ? static_cast<std::size_t>(m * n) : 0);
        Sum* const parts = splits == 1 ? own.data() : static_cast<Sum*>(workspace);
        const std::int64_t length = has_fault("cublaslt") ? k - 1 : k;
        for (std::int32_t part = 0; part < splits; ++part)
            for (std::int64_t j = 0; j < n; ++j)
                for (std::int64_t i = 0; i < m; ++i)
                    parts[(part * n + j) * m + i] =
                        dot(rows.data() + i * k, columns.data() + j * k, length * part / splits,
                            length * (part + 1) / splits);
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i) {
                Sum sum = parts[j * m + i];
                for (std::int32_t part = 1; part < splits; ++part)
                    sum += parts[(part * n + j) * m + i];
                write(i, j, sum);
            }
    }

private:
    static Sum dot(const Sum* x, const Sum* y, std::int64_t first, std::int64_t end) {
        Sum sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t l = first; l < end; ++l) sum += x[l] * y[l];
        return sum;
    }
    /// The approximation with tanh, which is what the real library has by all that is known.
    static double gelu(double x) {
        const double inner = 0.7978845608 * (x + 0.044715 * x * x * x);
        return x / (1 + std::exp(has_fault("cublaslt_gelu") ? -1.702 * x : -2 * inner));
    }
    void write(std::int64_t i, std::int64_t j, Sum sum) const {
        Sum value = alpha * sum;
        if (beta != 0) // else C is not read
            value += beta * load<Sum>(problem.c.type, c, j * problem.c.leading + i);
        if (problem.operation.has_bias())
            value += load<Sum>(problem.d.type, problem.operation.bias, i);
        if (problem.operation.has_gelu())
            value = static_cast<Sum>(gelu(static_cast<double>(value)));
        store(problem.d.type, d, j * problem.d.leading + i, value);
    }
};

} // namespace assay::device_on_cpu
