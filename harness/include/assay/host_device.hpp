// SPDX-License-Identifier: Apache-2.0
//
// Marks arithmetic that kernels on hosts and on devices share, so that both compute the same formula
// and unit tests on a host check it for both.

#pragma once

/// nvcc, or clang for HIP: compilers that know kernels.
#if defined(__CUDACC__) || defined(__HIP__)
#define ASSAY_DEVICE_COMPILER
#define ASSAY_HOST_DEVICE __host__ __device__
#else
#define ASSAY_HOST_DEVICE
#endif

/// Such a compiler's pass for the device; the other one is for the host.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define ASSAY_ON_DEVICE
#endif
