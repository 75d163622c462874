// SPDX-License-Identifier: Apache-2.0
//
// Makes an exception of what an NCCL call answers, with the place it was called from.

#pragma once

#include "device/error.hpp"

#include <nccl.h>

namespace assay::collective {

inline void check(ncclResult_t status,
                  const std::source_location& from = std::source_location::current()) {
    if (status == ncclSuccess) return;
    std::string words = std::string{"NCCL: "} + ncclGetErrorString(status);
    const char* last = ncclGetLastError(nullptr);
    if (last != nullptr && *last != '\0') (words += ": ") += last;
    throw device::Error{words + " (at " + device::words_of(from) + ')'};
}

} // namespace assay::collective
