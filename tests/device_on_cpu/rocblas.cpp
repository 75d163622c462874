// SPDX-License-Identifier: Apache-2.0
//
// The calls of rocBLAS that module `rocblas` makes, by the product of cublaslt.cpp on the memory of a device on the CPU.
// Refused is what rocblas_gemm_ex does not offer: types that do not go together.

#include "cublaslt_product.hpp"
#include "runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace {

namespace on_cpu = assay::device_on_cpu;

constexpr int success = 0;
constexpr int invalid_value = 11;
constexpr int not_implemented = 2;
constexpr int not_transposed = 111;
constexpr int transposed = 112;

struct Handle {
    cudaStream_t stream = nullptr;
};

/// rocBLAS' number of a type.
cudaDataType_t type_of(int number) {
    switch (number) {
    case 150:
        return CUDA_R_16F;
    case 151:
        return CUDA_R_32F;
    case 152:
        return CUDA_R_64F;
    case 160:
        return CUDA_R_8I;
    case 162:
        return CUDA_R_32I;
    default:
        return CUDA_R_16BF;
    }
}

} // namespace

extern "C" {

int rocblas_create_handle(void** made) {
    *made = new Handle;
    return success;
}
int rocblas_destroy_handle(void* handle) {
    delete static_cast<Handle*>(handle);
    return success;
}
int rocblas_set_stream(void* handle, cudaStream_t stream) {
    static_cast<Handle*>(handle)->stream = stream;
    return success;
}
int rocblas_set_math_mode(void* /*handle*/, int mode) {
    return mode == 0 || mode == 1 ? success : invalid_value;
}
int rocblas_get_version_string(char* to, std::size_t size) {
    const std::string version = "4.1.2.stand-in";
    if (size <= version.size()) return invalid_value;
    std::memcpy(to, version.c_str(), version.size() + 1);
    return success;
}
const char* rocblas_status_to_string(int status) {
    return status == not_implemented ? "rocblas_status_not_implemented"
                                     : "rocblas_status_invalid_value";
}

int rocblas_gemm_ex(void* handle, int transposed_a, int transposed_b, int m, int n, int k,
                    const void* /*alpha*/, const void* a, int type_a, int stride_a, const void* b,
                    int type_b, int stride_b, const void* /*beta*/, const void* c, int type_c,
                    int stride_c, void* d, int type_d, int stride_d, int type_of_sums,
                    int /*algorithm*/, std::int32_t /*solution*/, std::uint32_t /*flags*/) {
    const auto type = type_of(type_a);
    const auto sums = type == CUDA_R_64F ? CUDA_R_64F : type == CUDA_R_8I ? CUDA_R_32I : CUDA_R_32F;
    const auto result = type == CUDA_R_8I ? CUDA_R_32I : type;
    if (type_of(type_b) != type || type_of(type_c) != result || type_of(type_d) != result ||
        type_of(type_of_sums) != sums || transposed_a != transposed ||
        transposed_b != not_transposed)
        return not_implemented;
    if (c != d || stride_c != stride_d || m < 1 || n < 1 || k < 1) return invalid_value;
    const auto layout = [](cudaDataType_t of, int rows, int columns, int stride) {
        return on_cpu::Layout{of, static_cast<std::uint64_t>(rows),
                              static_cast<std::uint64_t>(columns), stride};
    };
    const auto whole = layout(result, m, n, stride_d);
    const on_cpu::Problem problem{{.transpose_a = CUBLAS_OP_T},
                                  layout(type, k, m, stride_a),
                                  layout(type, k, n, stride_b),
                                  whole,
                                  whole};
    const auto queue_as = [&]<class Sum>(Sum one) {
        on_cpu::enqueue(static_cast<Handle*>(handle)->stream,
                        on_cpu::Call<Sum>{problem, 1, one, Sum{}, a, b, c, d, nullptr});
    };
    if (sums == CUDA_R_64F)
        queue_as(1.0);
    else if (sums == CUDA_R_32I)
        queue_as(std::int32_t{1});
    else
        queue_as(1.0F);
    return success;
}

} // extern "C"
