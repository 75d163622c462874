// SPDX-License-Identifier: Apache-2.0

#include "gemm/cublaslt_product.hpp"

#include <cublaslt_names.hpp> // generated

#include <algorithm>
#include <array>
#include <span>

namespace assay::gemm {
namespace {

cudaDataType_t type_of(Storage storage) {
    switch (storage) {
    case Storage::fp64:
        return CUDA_R_64F;
    case Storage::fp32:
    case Storage::tf32:
        return CUDA_R_32F;
    case Storage::fp16:
        return CUDA_R_16F;
    case Storage::bf16:
        return CUDA_R_16BF;
    case Storage::e4m3:
    case Storage::mx_e4m3:
        return CUDA_R_8F_E4M3;
    case Storage::e5m2:
        return CUDA_R_8F_E5M2;
    case Storage::int8:
        return CUDA_R_8I;
    case Storage::int32:
        return CUDA_R_32I;
    case Storage::nv_e2m1:
#if CUBLAS_VERSION >= 120800
        return CUDA_R_4F_E2M1;
#else
        break;
#endif
    }
    throw LibraryError{"this cuBLAS knows no type for this precision"};
}

cublasComputeType_t compute_of(DevicePrecision precision) {
    switch (precision) {
    case DevicePrecision::fp64:
        return CUBLAS_COMPUTE_64F;
    case DevicePrecision::tf32:
        return CUBLAS_COMPUTE_32F_FAST_TF32;
    case DevicePrecision::int8:
        return CUBLAS_COMPUTE_32I;
#if CUBLAS_VERSION >= 130100
    case DevicePrecision::fp64_emulated:
        return CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT;
    case DevicePrecision::fp32_emulated:
        return CUBLAS_COMPUTE_32F_EMULATED_16BFX9;
#endif
    default:
        return CUBLAS_COMPUTE_32F;
    }
}

/// The type of the factors before A B and before C.
cudaDataType_t scale_type_of(Storage c) {
    return c == Storage::fp64 ? CUDA_R_64F : c == Storage::int32 ? CUDA_R_32I : CUDA_R_32F;
}

/// C = 1 A B + 0 C, or 1 of what is added: with a factor of 0, it is not read. A product may have another scale.
template <int value>
const void* factor(Storage c) {
    static constexpr double fp64 = value;
    static constexpr float fp32 = value;
    static constexpr std::int32_t int32 = value;
    if (c == Storage::fp64) return &fp64;
    if (c == Storage::int32) return &int32;
    return &fp32;
}

/// Columns of cuBLAS are our rows.
Layout layout_of(const Operand& operand) {
    cublasLtMatrixLayout_t raw = nullptr;
    check(ASSAY_CUBLASLT(cublasLtMatrixLayoutCreate, &raw, type_of(operand.storage), operand.inner,
                         operand.rows, static_cast<std::int64_t>(operand.inner)));
    return Layout{raw};
}

Operation operation_of(DevicePrecision precision, const Operands& operands) {
    cublasLtMatmulDesc_t raw = nullptr;
    check(ASSAY_CUBLASLT(cublasLtMatmulDescCreate, &raw, compute_of(precision),
                         scale_type_of(operands.c.storage)));
    Operation operation{raw};
    const cublasOperation_t a = operands.a_by_steps ? CUBLAS_OP_N : CUBLAS_OP_T;
    const cublasOperation_t b = operands.b_by_steps ? CUBLAS_OP_T : CUBLAS_OP_N;
    set(operation, CUBLASLT_MATMUL_DESC_TRANSA, a);
    set(operation, CUBLASLT_MATMUL_DESC_TRANSB, b);
    return operation;
}

template <class T>
T config_value(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t name) {
    T value{};
    std::size_t written = 0;
    // An attribute that an algorithm does not have keeps the value that stands for "undefined".
    if (ASSAY_CUBLASLT(cublasLtMatmulAlgoConfigGetAttribute, &algorithm, name, &value, sizeof value,
                       &written) != CUBLAS_STATUS_SUCCESS)
        return {};
    return value;
}

constexpr auto named(std::uint64_t bit, const char* name) {
    return Named{static_cast<std::int64_t>(bit), name};
}
constexpr std::array units{named(CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA, "fma"),
                           named(CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA, "tensor"),
                           named(CUBLASLT_NUMERICAL_IMPL_FLAGS_IMMA, "integer-tensor"),
                           named(CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA, "fp64-tensor")};
constexpr std::array inputs{named(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F, "fp16"),
                            named(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF, "bf16"),
                            named(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32, "tf32"),
                            named(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F, "fp32"),
                            named(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F, "fp64"),
                            named(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I, "int8"),
                            named(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3, "e4m3"),
                            named(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E5M2, "e5m2")};
constexpr std::array sums{named(CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F, "fp16"),
                          named(CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F, "fp32"),
                          named(CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F, "fp64"),
                          named(CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I, "int32")};

} // namespace

std::size_t library_version() {
    return pass<&cublasLtGetVersion>("cublasLtGetVersion", std::size_t{0});
}
int cublas_version() { return std::min(static_cast<int>(library_version()), CUBLAS_VERSION); }

Product::Product(const Library& library, DevicePrecision precision, Accumulation accumulation,
                 const Operands& operands, const Scratch& scratch)
    : precision_{precision}, operands_{operands}, scratch_{scratch}, library_{library},
      operation_{operation_of(precision, operands)}, a_{layout_of(operands.a)},
      b_{layout_of(operands.b)}, c_{layout_of(operands.c)} {
    if (is_fp8(precision)) {
        const std::int8_t fast = accumulation == Accumulation::fast ? 1 : 0;
        set(operation_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast);
    }
    if (operands.bias != nullptr) describe_bias();
    if (block_of(operands.a.storage) != 0) describe_scales();
    if (is_emulated(precision)) describe_emulation();
    ask();
}

void Product::describe_bias() {
    const cublasLtEpilogue_t last =
        operands_.has_gelu ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, last);
    set(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands_.bias);
}

void Product::describe_scales() {
#if CUBLAS_VERSION >= 120800
    const std::int32_t mode = operands_.a.storage == Storage::mx_e4m3
                                  ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0
                                  : CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
    set(operation_, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode);
    set(operation_, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
    const void* a = operands_.a.scales;
    const void* b = operands_.b.scales;
    set(operation_, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a);
    set(operation_, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, b);
#else
    throw LibraryError{"this cuBLAS knows no scales of blocks"};
#endif
}

void Product::describe_emulation() {
#if CUBLAS_VERSION >= 130100
    cublasLtEmulationDesc_t raw = nullptr;
    check(ASSAY_CUBLASLT(cublasLtEmulationDescCreate, &raw));
    emulation_ = Emulation{raw};
    // Wherever it is possible, not only where it is thought to be faster: the question is how fast
    // emulation is.
    const std::int32_t eager = CUBLAS_EMULATION_STRATEGY_EAGER;
    set(emulation_, CUBLASLT_EMULATION_DESC_STRATEGY, eager);
    if (precision_ == DevicePrecision::fp64_emulated) {
        const std::int32_t as_exact_as_native = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
        set(emulation_, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_CONTROL, as_exact_as_native);
        set(emulation_, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER,
            scratch_.mantissa_bits);
    }
    set(operation_, CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, emulation_.get());
#else
    throw LibraryError{"this cuBLAS does not tell how it emulates"};
#endif
}

/// Algorithms of the library's heuristics. Sums split along k are put together in their own type, or not
/// at all: otherwise a result would be rounded to the type of C several times over.
void Product::ask() {
    cublasLtMatmulPreference_t raw = nullptr;
    check(ASSAY_CUBLASLT(cublasLtMatmulPreferenceCreate, &raw));
    const Preference preference{raw};
    const std::uint64_t bytes = scratch_.bytes;
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, bytes);
    const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions);
    std::array<cublasLtMatmulHeuristicResult_t, most> found{};
    int count = 0;
    const cublasStatus_t status =
        ASSAY_CUBLASLT(cublasLtMatmulAlgoGetHeuristic, library_.get(), operation_.get(), a_.get(),
                       b_.get(), c_.get(), c_.get(), preference.get(), most, found.data(), &count);
    if (status != CUBLAS_STATUS_SUCCESS) count = 0;
    for (const auto& each : std::span{found}.first(static_cast<std::size_t>(count)))
        if (each.state == CUBLAS_STATUS_SUCCESS && each.workspaceSize <= scratch_.bytes &&
            (!is_emulated(precision_) || emulates(each.algo)))
            algorithms_.push_back({.algorithm = each.algo, .workspace = each.workspaceSize});
    // The heuristics are silent on int8 although the library can do it when it is called.
    if (algorithms_.empty() && precision_ == DevicePrecision::int8)
        algorithms_.push_back({.is_known = false, .workspace = scratch_.bytes});
    if (algorithms_.empty())
        why_none_ = std::string{"cuBLAS "} + cublas_text(cublas_version()) +
                    " has no algorithm for it on this device (" + name_of(status) + ')';
}

bool Product::emulates([[maybe_unused]] const cublasLtMatmulAlgo_t& algorithm) const {
#if CUBLAS_VERSION >= 130100
    std::int32_t support = 0;
    std::size_t written = 0;
    return ASSAY_CUBLASLT(cublasLtMatmulAlgoCapGetAttribute, &algorithm,
                          CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT, &support,
                          sizeof support, &written) == CUBLAS_STATUS_SUCCESS &&
           support != 0;
#else
    return false;
#endif
}

void Product::queue(std::size_t algorithm, const device::Stream& stream) const {
    const Algorithm& chosen = algorithms_.at(algorithm);
    const Storage c = operands_.c.storage;
    const bool adds = operands_.added != nullptr;
    const void* const added = adds ? operands_.added : operands_.c.data;
    const void* const scale = operands_.scale == 1 ? factor<1>(c) : &operands_.scale;
    check(ASSAY_CUBLASLT(
        cublasLtMatmul, library_.get(), operation_.get(), scale, operands_.a.data, a_.get(),
        operands_.b.data, b_.get(), adds ? factor<1>(c) : factor<0>(c), added, c_.get(),
        operands_.c.data, c_.get(), chosen.is_known ? &chosen.algorithm : nullptr,
        chosen.workspace > 0 ? scratch_.workspace : nullptr, chosen.workspace, stream.get()));
}

AlgorithmConfig Product::config(std::size_t algorithm) const {
    const Algorithm& chosen = algorithms_.at(algorithm);
    const auto& raw = chosen.algorithm;
    if (!chosen.is_known) return {.tile = "auto", .stages = "auto", .cluster = "auto"};
    return {
        .id = config_value<std::int32_t>(raw, CUBLASLT_ALGO_CONFIG_ID),
        .tile = name_in(tile_names, config_value<std::uint32_t>(raw, CUBLASLT_ALGO_CONFIG_TILE_ID)),
        .stages =
            name_in(stage_names, config_value<std::uint32_t>(raw, CUBLASLT_ALGO_CONFIG_STAGES_ID)),
        .cluster = name_in(cluster_names,
                           config_value<std::uint16_t>(raw, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID)),
        .split_k = config_value<std::int32_t>(raw, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
        .reduction = config_value<std::uint32_t>(raw, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
        .swizzle = config_value<std::uint32_t>(raw, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING),
        .custom = config_value<std::uint32_t>(raw, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
        .inner = config_value<std::uint16_t>(raw, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID),
        .workspace = chosen.workspace};
}

std::string Product::arithmetic(std::size_t algorithm) const {
    const Algorithm& chosen = algorithms_.at(algorithm);
    std::uint64_t flags = 0;
    std::size_t written = 0;
    if (!chosen.is_known || ASSAY_CUBLASLT(cublasLtMatmulAlgoCapGetAttribute, &chosen.algorithm,
                                           CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags,
                                           sizeof flags, &written) != CUBLAS_STATUS_SUCCESS)
        return "";
    return names_of_bits(units, flags) + ' ' + names_of_bits(inputs, flags) + ", sums " +
           names_of_bits(sums, flags);
}

} // namespace assay::gemm
