// SPDX-License-Identifier: Apache-2.0
//
// Owners of what cuBLASLt hands out, and its errors.

#pragma once

#include "device/error.hpp"

#include <cublasLt.h>

#include <memory>
#include <source_location>
#include <string>
#include <type_traits>

namespace assay::gemm {

/// The library refused a call. What fails on the device itself is a device::Error.
class LibraryError : public device::Error {
public:
    using device::Error::Error;
};

inline void check(cublasStatus_t status,
                  const std::source_location& from = std::source_location::current()) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw LibraryError{std::string{"cuBLASLt: "} + cublasLtGetStatusString(status) + " (" +
                       cublasLtGetStatusName(status) + ", at " + device::words_of(from) + ')'};
}

/// Why no library of cuBLASLt was found; "" where one was. The first call that needs it looks for it.
const std::string& why_no_library();

/// A thing that is destroyed by a function of its own.
template <class Raw, cublasStatus_t (*destroy)(Raw)>
class Owner {
public:
    Owner() = default;
    explicit Owner(Raw raw) : raw_{raw} {}
    Raw get() const { return raw_.get(); }

private:
    struct Destroy {
        void operator()(Raw raw) const { destroy(raw); }
    };
    std::unique_ptr<std::remove_pointer_t<Raw>, Destroy> raw_;
};

using Library = Owner<cublasLtHandle_t, cublasLtDestroy>;
using Operation = Owner<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owner<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owner<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

inline Library open_library() {
    cublasLtHandle_t raw = nullptr;
    check(cublasLtCreate(&raw));
    return Library{raw};
}

template <class T>
void set(const Operation& operation, cublasLtMatmulDescAttributes_t name, const T& value,
         const std::source_location& from = std::source_location::current()) {
    check(cublasLtMatmulDescSetAttribute(operation.get(), name, &value, sizeof value), from);
}
template <class T>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t name, const T& value,
         const std::source_location& from = std::source_location::current()) {
    check(cublasLtMatmulPreferenceSetAttribute(preference.get(), name, &value, sizeof value), from);
}

// Emulation that tells how it was done came with CUDA 13.0 Update 2.
#if CUBLAS_VERSION >= 130100
using Emulation = Owner<cublasLtEmulationDesc_t, cublasLtEmulationDescDestroy>;

template <class T>
void set(const Emulation& emulation, cublasLtEmulationDescAttributes_t name, const T& value,
         const std::source_location& from = std::source_location::current()) {
    check(cublasLtEmulationDescSetAttribute(emulation.get(), name, &value, sizeof value), from);
}
#endif

} // namespace assay::gemm
