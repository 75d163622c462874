// SPDX-License-Identifier: Apache-2.0
//
// What cuFFT's answers are called. By number, because releases differ in which names they declare.

#pragma once

namespace assay::fft {

constexpr const char* cufft_status_name(int status) {
    switch (status) {
    case 0x0:
        return "CUFFT_SUCCESS";
    case 0x1:
        return "CUFFT_INVALID_PLAN";
    case 0x2:
        return "CUFFT_ALLOC_FAILED";
    case 0x3:
        return "CUFFT_INVALID_TYPE";
    case 0x4:
        return "CUFFT_INVALID_VALUE";
    case 0x5:
        return "CUFFT_INTERNAL_ERROR";
    case 0x6:
        return "CUFFT_EXEC_FAILED";
    case 0x7:
        return "CUFFT_SETUP_FAILED";
    case 0x8:
        return "CUFFT_INVALID_SIZE";
    case 0x9:
        return "CUFFT_UNALIGNED_DATA";
    case 0xa:
        return "CUFFT_INCOMPLETE_PARAMETER_LIST";
    case 0xb:
        return "CUFFT_INVALID_DEVICE";
    case 0xc:
        return "CUFFT_PARSE_ERROR";
    case 0xd:
        return "CUFFT_NO_WORKSPACE";
    case 0xe:
        return "CUFFT_NOT_IMPLEMENTED";
    case 0xf:
        return "CUFFT_LICENSE_ERROR";
    case 0x10:
        return "CUFFT_NOT_SUPPORTED";
    case 0x11:
        return "CUFFT_MISSING_DEPENDENCY";
    case 0x12:
        return "CUFFT_NVRTC_FAILURE";
    case 0x13:
        return "CUFFT_NVJITLINK_FAILURE";
    case 0x14:
        return "CUFFT_NVSHMEM_FAILURE";
    default:
        return "an unknown status";
    }
}

/// What the reader can do about it; empty where nothing is known.
constexpr const char* cufft_status_advice(int status) {
    switch (status) {
    case 0x2:
        return ": not enough memory of the device; fewer points or a smaller batch would do";
    case 0x8:
        return ": cuFFT does not transform this length";
    case 0x10:
        return ": cuFFT does not support this transform on this device";
    case 0x11:
        return ": a library that cuFFT needs is missing or too old";
    default:
        return "";
    }
}

} // namespace assay::fft
