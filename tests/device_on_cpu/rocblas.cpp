// SPDX-License-Identifier: Apache-2.0
//
// The calls of rocBLAS that module `rocblas` makes, by plain loops on the memory of a device on the CPU. Refused is what
// rocblas_gemm_ex does not offer: types that do not go together.

#include "device/narrow_float.hpp"
#include "runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

namespace device = assay::device;

enum Type : int { f16 = 150, f32 = 151, f64 = 152, i8 = 160, i32 = 162, bf16 = 168 };
constexpr int success = 0;
constexpr int invalid_value = 11;
constexpr int not_implemented = 2;
constexpr int not_transposed = 111;

struct Handle {
    cudaStream_t stream = nullptr;
};

double load(const void* from, int type, std::size_t at) {
    switch (type) {
    case f64:
        return static_cast<const double*>(from)[at];
    case f32:
        return static_cast<const float*>(from)[at];
    case f16:
        return device::decode(device::fp16_format(), static_cast<const std::uint16_t*>(from)[at]);
    case bf16:
        return device::decode(device::bf16_format(), static_cast<const std::uint16_t*>(from)[at]);
    default:
        return static_cast<const std::int8_t*>(from)[at];
    }
}
void store(void* to, int type, std::size_t at, double value) {
    switch (type) {
    case f64:
        static_cast<double*>(to)[at] = value;
        break;
    case f32:
        static_cast<float*>(to)[at] = static_cast<float>(value);
        break;
    case i32:
        static_cast<std::int32_t*>(to)[at] = static_cast<std::int32_t>(value);
        break;
    default:
        static_cast<std::uint16_t*>(to)[at] = static_cast<std::uint16_t>(
            device::encode(type == f16 ? device::fp16_format() : device::bf16_format(), value));
    }
}

/// Columns of a column-major matrix as vectors of k numbers, whichever way it is stored.
std::vector<double> columns(const void* from, int type, int stride, int count, int k,
                            bool by_columns) {
    std::vector<double> all;
    for (int column = 0; column < count; ++column)
        for (int l = 0; l < k; ++l)
            all.push_back(load(from, type,
                               by_columns ? static_cast<std::size_t>(column) * stride + l
                                          : static_cast<std::size_t>(l) * stride + column));
    return all;
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
    const bool is_narrow = type_a == f16 || type_a == bf16;
    const int sums = type_a == f64 ? f64 : type_a == i8 ? i32 : f32;
    const int result = is_narrow || type_a == f32 || type_a == f64 ? type_a : i32;
    if (type_a != type_b || type_c != result || type_d != result || type_of_sums != sums)
        return not_implemented;
    if (c != d || stride_c != stride_d || m < 1 || n < 1 || k < 1) return invalid_value;
    assay::device_on_cpu::enqueue(static_cast<Handle*>(handle)->stream, [=] {
        const auto rows = columns(a, type_a, stride_a, m, k, transposed_a != not_transposed);
        const auto others = columns(b, type_b, stride_b, n, k, transposed_b == not_transposed);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) {
                double sum = 0;
                for (int l = 0; l < k; ++l)
                    sum += rows[static_cast<std::size_t>(i) * k + l] *
                           others[static_cast<std::size_t>(j) * k + l];
                store(d, type_d, static_cast<std::size_t>(j) * stride_d + i, sum);
            }
    });
    return success;
}

} // extern "C"
