// SPDX-License-Identifier: Apache-2.0
//
// The used part of hipFFT, in cuFFT's names, whose numbers it has: declarations of our own, after hipfft.h and
// hipfftXt.h of hipFFT 1.0.14 (ROCm 6.2). fft/hipfft_library.cpp opens the library; Debian 12 has neither its header
// nor itself.

#pragma once

#include <cuda_runtime_api.h> // HIP's, or that of the device that is the CPU

#if __has_include(<library_types.h>)
#include <library_types.h> // CUDA's
#else
// NOLINTNEXTLINE: the names are CUDA's, the numbers hipDataType's
enum cudaDataType { CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_C_32F = 4, CUDA_C_64F, CUDA_C_16F };
#endif

#include <cstddef>

// NOLINTBEGIN: the names are cuFFT's
#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1

extern "C" {

struct hipfftHandle_t;
using cufftHandle = hipfftHandle_t*;
enum cufftResult { CUFFT_SUCCESS = 0, CUFFT_SETUP_FAILED = 7, CUFFT_NOT_SUPPORTED = 16 };
enum cufftProperty { NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT };

cufftResult cufftGetVersion(int* version);
cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates);
cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty property, long long value);
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* in_sizes,
                                long long in_stride, long long in_distance, cudaDataType in,
                                long long* out_sizes, long long out_stride, long long out_distance,
                                cudaDataType out, long long batch, std::size_t* work_bytes,
                                cudaDataType computed);
cufftResult cufftSetWorkArea(cufftHandle plan, void* work);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftXtExec(cufftHandle plan, void* in, void* out, int direction);

} // extern "C"
// NOLINTEND
