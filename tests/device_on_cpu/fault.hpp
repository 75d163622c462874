// SPDX-License-Identifier: Apache-2.0
//
// A fault that a test plants in a library of the device on the CPU, so that it is seen whether a benchmark's check
// notices it: ASSAY_CPU_FAULT=<name of the library>, read at each call.

#pragma once

#include <cstdlib>
#include <string_view>

namespace assay::device_on_cpu {

inline bool has_fault(std::string_view library) {
    const char* const planted = std::getenv("ASSAY_CPU_FAULT"); // NOLINT(concurrency-mt-unsafe)
    return planted != nullptr && library == planted;
}

} // namespace assay::device_on_cpu
