// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt's calls, done by a plain product on the memory of a device on the CPU: the types and scales of blocks of
// cuBLAS 13.1, several algorithms with their workspace, and its statuses where it refuses.
// As with the real library, some algorithms of the list do not work, and for int8 the list is empty although a call
// without an algorithm works. ASSAY_CPU_FAULT: cublaslt leaves out the last product of each sum, cublaslt_scales reads
// scales row by row instead of by tiles of 128 x 4, cublaslt_gelu has a rough approximation of GELU instead of that
// with tanh.

#include "cublaslt_product.hpp"
#include "runtime.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

using namespace assay::device_on_cpu;

namespace {

template <class Own, class Raw, class... Values>
cublasStatus_t make(Raw* made, Values... values) {
    *made = reinterpret_cast<Raw>(new Own{values...});
    return CUBLAS_STATUS_SUCCESS;
}
template <class Own, class Raw>
cublasStatus_t destroy(Raw made) {
    delete reinterpret_cast<Own*>(made);
    return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t take(T& to, const void* value, std::size_t bytes) {
    if (bytes != sizeof to) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t give(T from, void* value, std::size_t bytes, std::size_t* written) {
    if (bytes < sizeof from) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(value, &from, sizeof from);
    *written = sizeof from;
    return CUBLAS_STATUS_SUCCESS;
}

// --- algorithms -------------------------------------------------------------------------------------------

struct Algorithm {
    std::int32_t id;
    std::uint32_t tile;
    std::uint32_t stages;
    std::uint16_t cluster;
    std::int32_t splits;
    std::uint32_t swizzle;
    bool works;    ///< false: the list offers it and the call refuses, as it happens
    bool emulates; ///< where emulation was asked for
};
constexpr std::array algorithms{
    Algorithm{66, CUBLASLT_MATMUL_TILE_128x128, CUBLASLT_MATMUL_STAGES_64x3,
              CUBLASLT_CLUSTER_SHAPE_2x1x1, 1, 0, true, true},
    Algorithm{66, CUBLASLT_MATMUL_TILE_64x64, CUBLASLT_MATMUL_STAGES_64x4,
              CUBLASLT_CLUSTER_SHAPE_1x1x1, 1, 1, true, false},
    Algorithm{67, CUBLASLT_MATMUL_TILE_128x128, CUBLASLT_MATMUL_STAGES_64x3,
              CUBLASLT_CLUSTER_SHAPE_1x1x1, 2, 0, true, true},
    Algorithm{71, CUBLASLT_MATMUL_TILE_64x64, CUBLASLT_MATMUL_STAGES_64xAUTO,
              CUBLASLT_CLUSTER_SHAPE_1x1x1, 1, 0, false, true},
};

std::size_t workspace_of(const Algorithm& algorithm, const Problem& problem) {
    if (algorithm.splits == 1) return 0;
    const std::int64_t width = bits_of(problem.operation.scale) / 8;
    return static_cast<std::size_t>(algorithm.splits * problem.m() * problem.n() * width);
}

// --- what is refused -----------------------------------------------------------------------------------

bool is_fp8(cudaDataType_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }
bool is_narrow(const Problem& p) { return is_fp8(p.a.type) || p.a.type == CUDA_R_4F_E2M1; }

/// The table of types under cublasLtMatmul().
bool has_types(const Problem& p) {
    const auto& [op, a, b, c, d] = p;
    const auto all = [&](cudaDataType_t type) {
        return a.type == type && b.type == type && c.type == type && d.type == type;
    };
    if (c.type != d.type) return false;
    switch (op.compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return op.scale == CUDA_R_64F && all(CUDA_R_64F);
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
        return op.scale == CUDA_R_32F && all(CUDA_R_32F);
    case CUBLAS_COMPUTE_32I:
        return op.scale == CUDA_R_32I && a.type == CUDA_R_8I && b.type == CUDA_R_8I &&
               d.type == CUDA_R_32I;
    case CUBLAS_COMPUTE_32F:
        break;
    default:
        return false;
    }
    if (op.scale != CUDA_R_32F) return false;
    if (all(CUDA_R_32F)) return true;
    const bool wide = d.type == CUDA_R_32F;
    if (a.type == CUDA_R_16F || a.type == CUDA_R_16BF)
        return b.type == a.type && (wide || d.type == a.type);
    if (!wide && d.type != CUDA_R_16F && d.type != CUDA_R_16BF) return false;
    if (a.type == CUDA_R_4F_E2M1) return b.type == a.type;
    return is_fp8(a.type) && is_fp8(b.type) &&
           (a.type == CUDA_R_8F_E4M3 || b.type == CUDA_R_8F_E4M3);
}

bool has_scales(const Problem& p) {
    const std::int32_t mode = p.operation.a.mode;
    if (mode != p.operation.b.mode) return false;
    if (p.a.type == CUDA_R_4F_E2M1) return mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
    if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) return true;
    return mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 && p.a.type == CUDA_R_8F_E4M3 &&
           p.b.type == CUDA_R_8F_E4M3;
}

/// Nothing, or a bias of the type of D and perhaps GELU, of types whose sums are fp32.
bool has_epilogue(const Problem& p) {
    const auto& op = p.operation;
    return op.epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
           ((op.epilogue == CUBLASLT_EPILOGUE_BIAS || op.epilogue == CUBLASLT_EPILOGUE_GELU_BIAS) &&
            op.scale == CUDA_R_32F && !is_narrow(p));
}

int capability() {
    int major = 0;
    int minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, current_device());
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, current_device());
    return 10 * major + minor;
}

/// Narrow types and integers: A transposed and B not. Narrow types: every row a multiple of 16 bytes; integers of 4.
bool has_shape(const Problem& p) {
    const bool is_along_k = p.a_is_along_k() && p.b_is_along_k();
    if (!is_along_k && (is_narrow(p) || p.a.type == CUDA_R_8I)) return false;
    if (!is_narrow(p)) return p.a.type != CUDA_R_8I || (p.m() % 4 == 0 && p.k() % 4 == 0);
    const std::int64_t in_16_bytes = 128 / bits_of(p.a.type);
    const bool divides = p.m() % 16 == 0 && p.n() % 16 == 0 && p.k() % in_16_bytes == 0 &&
                         p.a.leading % in_16_bytes == 0 && p.b.leading % in_16_bytes == 0;
    const bool has_blocks = p.operation.a.block() == 0 || p.k() % p.operation.a.block() == 0;
    return divides && has_blocks && capability() >= (p.operation.a.block() != 0 ? 100 : 89);
}

/// Matrices that do not go together are the caller's mistake, what is not offered is not supported.
cublasStatus_t status_of(const Problem& p) {
    const auto fits = [](const Layout& layout, std::int64_t rows, std::int64_t columns) {
        return static_cast<std::int64_t>(layout.rows) == rows &&
               static_cast<std::int64_t>(layout.columns) == columns && layout.leading >= rows;
    };
    const std::int64_t k = p.k();
    const auto lies = [&](const Layout& layout, bool is_along_k, std::int64_t outer) {
        return is_along_k ? fits(layout, k, outer) : fits(layout, outer, k);
    };
    const bool agree = lies(p.a, p.a_is_along_k(), p.m()) && lies(p.b, p.b_is_along_k(), p.n()) &&
                       fits(p.c, p.m(), p.n()) && fits(p.d, p.m(), p.n()) && k > 0;
    if (!agree) return CUBLAS_STATUS_INVALID_VALUE;
    return has_types(p) && has_scales(p) && has_shape(p) && has_epilogue(p)
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_NOT_SUPPORTED;
}

bool is_reachable(const void* data, std::int64_t bytes) {
    const int device = current_device();
    return device_of(data) == device &&
           device_of(static_cast<const std::byte*>(data) + bytes - 1) == device;
}
bool is_reachable(const void* data, const Layout& layout) {
    const std::int64_t elements = (static_cast<std::int64_t>(layout.columns) - 1) * layout.leading +
                                  static_cast<std::int64_t>(layout.rows);
    return is_reachable(data, elements * bits_of(layout.type) / 8);
}
bool is_reachable(const Scales& scales, std::int64_t rows, std::int64_t k) {
    if (scales.block() == 0) return scales.data == nullptr || is_reachable(scales.data, 4);
    const std::int64_t tiles = (rows + 127) / 128 * ((k / scales.block() + 3) / 4);
    return is_reachable(scales.data, 512 * tiles);
}

Problem problem_of(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
                   cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
    return {*reinterpret_cast<const Operation*>(operation), *reinterpret_cast<const Layout*>(a),
            *reinterpret_cast<const Layout*>(b), *reinterpret_cast<const Layout*>(c),
            *reinterpret_cast<const Layout*>(d)};
}

// --- algorithms in their opaque words --------------------------------------------------------------------

/// Word 0: the place in the list, from 1; word 1: how it calculates; word 2: does it emulate?
cublasLtMatmulAlgo_t words_of(std::size_t place, const Problem& problem) {
    const auto& op = problem.operation;
    const std::uint64_t by =
        op.scale == CUDA_R_64F
            ? CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F |
                  CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F
        : is_fp8(problem.a.type)
            ? CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3 |
                  CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F
            : CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F |
                  CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F;
    const bool emulates = op.is_emulated() && algorithms.at(place).emulates;
    return {{place + 1, by, emulates ? 1U : 0U}};
}
const Algorithm* algorithm_of(const cublasLtMatmulAlgo_t* words) {
    const std::uint64_t place = words == nullptr ? 0 : words->data[0];
    return place == 0 || place > algorithms.size() ? nullptr : &algorithms.at(place - 1);
}

/// Queues the product, and behind it what emulation tells.
template <class Sum>
void queue(const Call<Sum>& call, const Algorithm& algorithm, cudaStream_t stream) {
    enqueue(stream, call);
    const Emulation* const emulation = call.problem.operation.emulation;
    if (emulation == nullptr || emulation->mantissa_bits == nullptr) return;
    constexpr std::int32_t as_fp64 = 55;
    constexpr std::int32_t none = -1;
    enqueue(stream, [to = emulation->mantissa_bits, bits = algorithm.emulates ? as_fp64 : none] {
        *to = bits;
    });
}

} // namespace

extern "C" {

std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
const char* cublasLtGetStatusName(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
           : status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
           : status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                                   : "CUBLAS_STATUS_INTERNAL_ERROR";
}
const char* cublasLtGetStatusString(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS         ? "success"
           : status == CUBLAS_STATUS_INVALID_VALUE ? "an unsupported value or parameter was passed"
                                                   : "the requested functionality is not supported";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* made) { return make<int>(made); }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t made) { return destroy<int>(made); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
    return make<Operation>(made, compute, scale);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
    return destroy<Operation>(made);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t of,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void* value, std::size_t bytes) {
    auto& operation = *reinterpret_cast<Operation*>(of);
    switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
        return take(operation.transpose_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
        return take(operation.transpose_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
        return take(operation.fast_accumulation, value, bytes);
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE:
        return take(operation.a.mode, value, bytes);
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE:
        return take(operation.b.mode, value, bytes);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
        return take(operation.a.data, value, bytes);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
        return take(operation.b.data, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return take(operation.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return take(operation.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR:
        return take(operation.emulation, value, bytes);
    default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
    return make<Layout>(made, type, rows, columns, leading);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
    return destroy<Layout>(made);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
    return make<Preference>(made);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
    return destroy<Preference>(made);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t of,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void* value, std::size_t bytes) {
    auto& preference = *reinterpret_cast<Preference*>(of);
    if (name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
        return take(preference.workspace, value, bytes);
    if (name == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
        return take(preference.reductions, value, bytes);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtEmulationDescCreate(cublasLtEmulationDesc_t* made) {
    return make<Emulation>(made);
}
cublasStatus_t cublasLtEmulationDescDestroy(cublasLtEmulationDesc_t made) {
    return destroy<Emulation>(made);
}
cublasStatus_t cublasLtEmulationDescSetAttribute(cublasLtEmulationDesc_t of,
                                                 cublasLtEmulationDescAttributes_t name,
                                                 const void* value, std::size_t bytes) {
    auto& emulation = *reinterpret_cast<Emulation*>(of);
    if (name == CUBLASLT_EMULATION_DESC_STRATEGY) return take(emulation.strategy, value, bytes);
    if (name == CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_CONTROL)
        return take(emulation.control, value, bytes);
    if (name == CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER)
        return take(emulation.mantissa_bits, value, bytes);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* count) {
    const Problem problem = problem_of(operation, a, b, c, d);
    const auto& wanted = *reinterpret_cast<const Preference*>(preference);
    *count = 0;
    if (const auto status = status_of(problem); status != CUBLAS_STATUS_SUCCESS) return status;
    if (problem.operation.compute == CUBLAS_COMPUTE_32I) return CUBLAS_STATUS_NOT_SUPPORTED;
    for (std::size_t place = 0; place < algorithms.size() && *count < most; ++place) {
        const std::size_t needed = workspace_of(algorithms.at(place), problem);
        const bool splits = algorithms.at(place).splits > 1;
        if (needed > wanted.workspace ||
            (splits && (wanted.reductions & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE) == 0))
            continue;
        results[(*count)++] = {.algo = words_of(place, problem),
                               .workspaceSize = needed,
                               .state = CUBLAS_STATUS_SUCCESS,
                               .wavesCount = 1,
                               .reserved = {}};
    }
    if (*count < most) // an entry that holds nothing but its status
        results[(*count)++] = {.algo = {},
                               .workspaceSize = 0,
                               .state = CUBLAS_STATUS_NOT_SUPPORTED,
                               .wavesCount = 0,
                               .reserved = {}};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* of,
                                                    cublasLtMatmulAlgoConfigAttributes_t name,
                                                    void* value, std::size_t bytes,
                                                    std::size_t* written) {
    const Algorithm* const algorithm = algorithm_of(of);
    if (algorithm == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (name) {
    case CUBLASLT_ALGO_CONFIG_ID:
        return give(algorithm->id, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_TILE_ID:
        return give(algorithm->tile, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_STAGES_ID:
        return give(algorithm->stages, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID:
        return give(algorithm->cluster, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM:
        return give(algorithm->splits, value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME:
        return give<std::uint32_t>(algorithm->splits > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                                         : CUBLASLT_REDUCTION_SCHEME_NONE,
                                   value, bytes, written);
    case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING:
        return give(algorithm->swizzle, value, bytes, written);
    default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* of,
                                                 cublasLtMatmulAlgoCapAttributes_t name,
                                                 void* value, std::size_t bytes,
                                                 std::size_t* written) {
    if (algorithm_of(of) == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if (name == CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS)
        return give(of->data[1], value, bytes, written);
    if (name == CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT)
        return give(static_cast<std::int32_t>(of->data[2]), value, bytes, written);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* words,
                              void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
    const Problem problem = problem_of(operation, a_layout, b_layout, c_layout, d_layout);
    if (const auto status = status_of(problem); status != CUBLAS_STATUS_SUCCESS) return status;
    if (words != nullptr && algorithm_of(words) == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    const Algorithm& algorithm = words == nullptr ? algorithms.front() : *algorithm_of(words);
    if (!algorithm.works) return CUBLAS_STATUS_NOT_SUPPORTED;
    const std::size_t needed = workspace_of(algorithm, problem);
    const auto is_aligned = [&](const void* data) {
        return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
    };
    if (needed > workspace_bytes ||
        (needed > 0 && !is_reachable(workspace, static_cast<std::int64_t>(needed))) ||
        (problem.operation.has_bias() &&
         !is_reachable(problem.operation.bias, problem.m() * bits_of(problem.d.type) / 8)) ||
        !is_reachable(a, problem.a) || !is_reachable(c, problem.c) || !is_reachable(b, problem.b) ||
        !is_reachable(d, problem.d) ||
        !is_reachable(problem.operation.a, problem.m(), problem.k()) ||
        !is_reachable(problem.operation.b, problem.n(), problem.k()))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (is_narrow(problem) && !(is_aligned(a) && is_aligned(b) && is_aligned(d)))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const auto queue_as = [&]<class Sum>(Sum /*type*/) {
        queue(Call<Sum>{problem, algorithm.splits, *static_cast<const Sum*>(alpha),
                        *static_cast<const Sum*>(beta), a, b, c, d, workspace},
              algorithm, stream);
    };
    if (problem.operation.scale == CUDA_R_64F)
        queue_as(double{});
    else if (problem.operation.scale == CUDA_R_32I)
        queue_as(std::int32_t{});
    else
        queue_as(float{});
    return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
