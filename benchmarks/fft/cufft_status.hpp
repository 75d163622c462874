// SPDX-License-Identifier: Apache-2.0
//
// Names of cuFFT's status codes. By number, because releases differ in which names they declare.

#pragma once

#include <array>
#include <cstddef>

namespace assay::fft {

inline constexpr std::array cufft_status_names{"CUFFT_SUCCESS",
                                               "CUFFT_INVALID_PLAN",
                                               "CUFFT_ALLOC_FAILED",
                                               "CUFFT_INVALID_TYPE",
                                               "CUFFT_INVALID_VALUE",
                                               "CUFFT_INTERNAL_ERROR",
                                               "CUFFT_EXEC_FAILED",
                                               "CUFFT_SETUP_FAILED",
                                               "CUFFT_INVALID_SIZE",
                                               "CUFFT_UNALIGNED_DATA",
                                               "CUFFT_INCOMPLETE_PARAMETER_LIST",
                                               "CUFFT_INVALID_DEVICE",
                                               "CUFFT_PARSE_ERROR",
                                               "CUFFT_NO_WORKSPACE",
                                               "CUFFT_NOT_IMPLEMENTED",
                                               "CUFFT_LICENSE_ERROR",
                                               "CUFFT_NOT_SUPPORTED",
                                               "CUFFT_MISSING_DEPENDENCY",
                                               "CUFFT_NVRTC_FAILURE",
                                               "CUFFT_NVJITLINK_FAILURE",
                                               "CUFFT_NVSHMEM_FAILURE"};
constexpr const char* cufft_status_name(int status) {
    const auto place = static_cast<std::size_t>(status);
    return place < cufft_status_names.size() ? cufft_status_names[place] : "an unknown status";
}

/// A remedy for the reader; empty if none is known.
constexpr const char* cufft_status_advice(int status) {
    switch (status) {
    case 0x2:
        return ": not enough memory of the device; fewer points or a smaller batch would do";
    case 0x8:
        return ": the library does not transform this length";
    case 0x10:
        return ": the library does not support this transform on this device";
    case 0x11:
        return ": a library that it needs is missing or too old";
    default:
        return "";
    }
}

} // namespace assay::fft
