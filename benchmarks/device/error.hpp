// SPDX-License-Identifier: Apache-2.0
//
// Makes an exception of what a CUDA call answers, with the place it was called from. Everything that
// touches a device goes through here, so that no error is lost.

#pragma once

#include <assay/text.hpp>

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace assay::device {

class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// "stream.cpp:42"
inline std::string words_of(const std::source_location& from) {
    const std::string path = from.file_name();
    return joined(path.substr(path.find_last_of('/') + 1), ':', from.line());
}

/// Throws unless the call went well. Asynchronous work fails later, at the next call that looks.
inline void check(cudaError_t status,
                  const std::source_location& from = std::source_location::current()) {
    if (status == cudaSuccess) return;
    throw Error{std::string{cudaGetErrorString(status)} + " (" + cudaGetErrorName(status) +
                ", at " + words_of(from) + ')'};
}

/// After kernels were launched: did the launches go well?
inline void check_launches(const std::source_location& from = std::source_location::current()) {
    check(cudaGetLastError(), from);
}

} // namespace assay::device
