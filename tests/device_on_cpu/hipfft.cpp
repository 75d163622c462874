// SPDX-License-Identifier: Apache-2.0
//
// hipFFT's names for the stand-in of cuFFT (cufft.cpp): handles are pointers, all else is alike.

#include <cufftXt.h>

#include <cstddef>
#include <cstdint>

namespace {

cufftHandle plan_of(void* handle) {
    return static_cast<cufftHandle>(reinterpret_cast<std::intptr_t>(handle));
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): hipFFT's names
extern "C" {

cufftResult hipfftGetVersion(int* version) { return cufftGetVersion(version); }
cufftResult hipfftCreate(void** handle) {
    cufftHandle plan = 0;
    const cufftResult status = cufftCreate(&plan);
    *handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(plan));
    return status;
}
cufftResult hipfftDestroy(void* plan) { return cufftDestroy(plan_of(plan)); }
cufftResult hipfftSetAutoAllocation(void* plan, int allocates) {
    return cufftSetAutoAllocation(plan_of(plan), allocates);
}
cufftResult hipfftXtMakePlanMany(void* plan, int rank, long long* n, long long* in_sizes,
                                 long long in_stride, long long in_distance, cudaDataType in,
                                 long long* out_sizes, long long out_stride, long long out_distance,
                                 cudaDataType out, long long batch, std::size_t* work_bytes,
                                 cudaDataType computed) {
    return cufftXtMakePlanMany(plan_of(plan), rank, n, in_sizes, in_stride, in_distance, in,
                               out_sizes, out_stride, out_distance, out, batch, work_bytes,
                               computed);
}
cufftResult hipfftSetWorkArea(void* plan, void* work) {
    return cufftSetWorkArea(plan_of(plan), work);
}
cufftResult hipfftSetStream(void* plan, cudaStream_t stream) {
    return cufftSetStream(plan_of(plan), stream);
}
cufftResult hipfftXtExec(void* plan, void* in, void* out, int direction) {
    return cufftXtExec(plan_of(plan), in, out, direction);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
