// SPDX-License-Identifier: Apache-2.0
//
// Marks arithmetic that kernels on hosts and on devices share, so that both compute the same formula
// and unit tests on a host check it for both.

#pragma once

#ifdef __CUDACC__
#define ASSAY_HOST_DEVICE __host__ __device__
#else
#define ASSAY_HOST_DEVICE
#endif
