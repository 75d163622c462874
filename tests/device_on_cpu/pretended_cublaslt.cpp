// SPDX-License-Identifier: Apache-2.0
//
// A library of cuBLASLt 13.0 on no device: it has none of the functions that describe emulation, offers no
// algorithm for int8, and remembers the workspace that it was given.
#include <cublasLt.h>

#include <cstddef>
#include <cstdint>

namespace {
std::size_t workspace_given = 0;
bool had_algorithm = false;

template <class Raw>
cublasStatus_t make(Raw* made) {
    *made = reinterpret_cast<Raw>(new char); // NOLINT: freed by destroy()
    return CUBLAS_STATUS_SUCCESS;
}
template <class Raw>
cublasStatus_t destroy(Raw made) {
    delete reinterpret_cast<char*>(made); // NOLINT
    return CUBLAS_STATUS_SUCCESS;
}
/// One layout is of int8, so the product is.
bool is_int8 = false;
} // namespace

extern "C" {
// Queries for tests.
std::size_t pretended_workspace() { return workspace_given; }
bool pretended_algorithm() { return had_algorithm; }

std::size_t cublasLtGetVersion() { return 130000; }
const char* cublasLtGetStatusName(cublasStatus_t /*status*/) { return "CUBLAS_STATUS_PRETENDED"; }
const char* cublasLtGetStatusString(cublasStatus_t /*status*/) { return "pretended"; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t* made) { return make(made); }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t made) { return destroy(made); }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t /*scale*/) {
    is_int8 = compute == CUBLAS_COMPUTE_32I;
    return make(made);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) { return destroy(made); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t,
                                              const void*, std::size_t) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType, std::uint64_t,
                                          std::uint64_t, std::int64_t) {
    return make(made);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) { return destroy(made); }
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
    return make(made);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
    return destroy(made);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* count) {
    *count = is_int8 ? 0 : 1;
    if (is_int8) return CUBLAS_STATUS_NOT_SUPPORTED;
    results[0] = {};
    results[0].workspaceSize = 4096;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t*,
                                                    cublasLtMatmulAlgoConfigAttributes_t, void*,
                                                    std::size_t, std::size_t*) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
}
cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t*,
                                                 cublasLtMatmulAlgoCapAttributes_t, void*,
                                                 std::size_t, std::size_t*) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*,
                              cublasLtMatrixLayout_t, const void*, cublasLtMatrixLayout_t,
                              const void*, const void*, cublasLtMatrixLayout_t, void*,
                              cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t* algorithm,
                              void* workspace, std::size_t bytes, cudaStream_t) {
    workspace_given = workspace == nullptr ? 0 : bytes;
    had_algorithm = algorithm != nullptr;
    return CUBLAS_STATUS_SUCCESS;
}
} // extern "C"
