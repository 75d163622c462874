// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt as it is found when it is first needed. Its symbols carry the version of CUDA, and those of
// emulation are not in every library, so that a module that is linked to it loads with one version alone;
// these functions of the same names pass on to whichever is there.

#include "gemm/cublaslt_handles.hpp"

#include <dlfcn.h>

#include <array>

namespace assay::gemm {
namespace {

struct Found {
    void* library = nullptr;
    std::string why_not;
};

Found open() {
    constexpr std::array names{"libcublasLt.so.13", "libcublasLt.so.12"};
    Found found;
    for (const char* name : names) {
        // Never closed: the library's threads and its memory on the device outlive a module.
        found.library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (found.library != nullptr) return {.library = found.library, .why_not = {}};
        found.why_not += found.why_not.empty() ? "cuBLASLt cannot be loaded: " : "; ";
        found.why_not += ::dlerror();
    }
    return found;
}

const Found& found() {
    static const Found once = open();
    return once;
}

/// The library's function of that name, or null.
template <auto function>
decltype(function) real(const char* name) {
    static const auto address =
        found().library == nullptr
            ? nullptr
            : reinterpret_cast<decltype(function)>(::dlsym(found().library, name));
    return address;
}

template <auto function, class... Arguments>
cublasStatus_t pass(const char* name, Arguments... arguments) {
    const auto there = real<function>(name);
    return there == nullptr ? CUBLAS_STATUS_NOT_SUPPORTED : there(arguments...);
}

} // namespace

const std::string& why_no_library() { return found().why_not; }

} // namespace assay::gemm

using assay::gemm::pass;
using assay::gemm::real;

// NOLINTBEGIN(readability-identifier-naming): the library's own
#define ASSAY_PASS(name, ...) return pass<&name>(#name __VA_OPT__(, ) __VA_ARGS__)

std::size_t cublasLtGetVersion() {
    const auto there = real<&cublasLtGetVersion>("cublasLtGetVersion");
    return there == nullptr ? 0 : there();
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
    const auto there = real<&cublasLtGetStatusName>("cublasLtGetStatusName");
    return there == nullptr ? "no name" : there(status);
}
const char* cublasLtGetStatusString(cublasStatus_t status) {
    const auto there = real<&cublasLtGetStatusString>("cublasLtGetStatusString");
    return there == nullptr ? "the library has no such function" : there(status);
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { ASSAY_PASS(cublasLtCreate, handle); }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { ASSAY_PASS(cublasLtDestroy, handle); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
    ASSAY_PASS(cublasLtMatmulDescCreate, made, compute, scale);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
    ASSAY_PASS(cublasLtMatmulDescDestroy, made);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t of,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void* value, std::size_t bytes) {
    ASSAY_PASS(cublasLtMatmulDescSetAttribute, of, name, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t stride) {
    ASSAY_PASS(cublasLtMatrixLayoutCreate, made, type, rows, columns, stride);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
    ASSAY_PASS(cublasLtMatrixLayoutDestroy, made);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
    ASSAY_PASS(cublasLtMatmulPreferenceCreate, made);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
    ASSAY_PASS(cublasLtMatmulPreferenceDestroy, made);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t of,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void* value, std::size_t bytes) {
    ASSAY_PASS(cublasLtMatmulPreferenceSetAttribute, of, name, value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* count) {
    ASSAY_PASS(cublasLtMatmulAlgoGetHeuristic, handle, operation, a, b, c, d, preference, most,
               results, count);
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* of,
                                                    cublasLtMatmulAlgoConfigAttributes_t name,
                                                    void* value, std::size_t bytes,
                                                    std::size_t* written) {
    ASSAY_PASS(cublasLtMatmulAlgoConfigGetAttribute, of, name, value, bytes, written);
}
cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* of,
                                                 cublasLtMatmulAlgoCapAttributes_t name,
                                                 void* value, std::size_t bytes,
                                                 std::size_t* written) {
    ASSAY_PASS(cublasLtMatmulAlgoCapGetAttribute, of, name, value, bytes, written);
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
    ASSAY_PASS(cublasLtMatmul, handle, operation, alpha, a, a_layout, b, b_layout, beta, c,
               c_layout, d, d_layout, algorithm, workspace, workspace_bytes, stream);
}

#if CUBLAS_VERSION >= 130100
cublasStatus_t cublasLtEmulationDescCreate(cublasLtEmulationDesc_t* made) {
    ASSAY_PASS(cublasLtEmulationDescCreate, made);
}
cublasStatus_t cublasLtEmulationDescDestroy(cublasLtEmulationDesc_t made) {
    ASSAY_PASS(cublasLtEmulationDescDestroy, made);
}
cublasStatus_t cublasLtEmulationDescSetAttribute(cublasLtEmulationDesc_t of,
                                                 cublasLtEmulationDescAttributes_t name,
                                                 const void* value, std::size_t bytes) {
    ASSAY_PASS(cublasLtEmulationDescSetAttribute, of, name, value, bytes);
}
#endif

#undef ASSAY_PASS
// NOLINTEND(readability-identifier-naming)
