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

/// The library refused a call. Failures of the device itself are a device::Error.
class LibraryError : public device::Error {
public:
    using device::Error::Error;
};

/// Why no library of cuBLASLt was found; "" where one was. The first call that needs it looks for it.
const std::string& why_no_library();
/// Its function of that name, or null.
void* library_function(const char* name);

/// Calls it; where this library lacks it, the answer is `otherwise`.
template <auto function, class Otherwise, class... Arguments>
Otherwise pass(const char* name, Otherwise otherwise, const Arguments&... arguments) {
    static const auto there = reinterpret_cast<decltype(function)>(library_function(name));
    return there == nullptr ? otherwise : there(arguments...);
}
/// One that answers with a status.
#define ASSAY_CUBLASLT(name, ...) pass<&name>(#name, CUBLAS_STATUS_NOT_SUPPORTED, __VA_ARGS__)

inline const char* name_of(cublasStatus_t status) {
    return pass<&cublasLtGetStatusName>("cublasLtGetStatusName", "no name", status);
}
inline void check(cublasStatus_t status,
                  const std::source_location& from = std::source_location::current()) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw LibraryError{std::string{"cuBLASLt: "} +
                       pass<&cublasLtGetStatusString>("cublasLtGetStatusString",
                                                      "the library has no such function", status) +
                       " (" + name_of(status) + ", at " + device::words_of(from) + ')'};
}

inline void destroy(cublasLtHandle_t raw) { ASSAY_CUBLASLT(cublasLtDestroy, raw); }
inline void destroy(cublasLtMatmulDesc_t raw) { ASSAY_CUBLASLT(cublasLtMatmulDescDestroy, raw); }
inline void destroy(cublasLtMatrixLayout_t raw) {
    ASSAY_CUBLASLT(cublasLtMatrixLayoutDestroy, raw);
}
inline void destroy(cublasLtMatmulPreference_t raw) {
    ASSAY_CUBLASLT(cublasLtMatmulPreferenceDestroy, raw);
}
// Emulation that tells how it was done came with CUDA 13.0 Update 2.
#if CUBLAS_VERSION >= 130100
inline void destroy(cublasLtEmulationDesc_t raw) {
    ASSAY_CUBLASLT(cublasLtEmulationDescDestroy, raw);
}
#endif

/// A thing that is destroyed by a function of its own.
template <class Raw>
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
using Library = Owner<cublasLtHandle_t>;
using Operation = Owner<cublasLtMatmulDesc_t>;
using Layout = Owner<cublasLtMatrixLayout_t>;
using Preference = Owner<cublasLtMatmulPreference_t>;

inline Library open_library() {
    cublasLtHandle_t raw = nullptr;
    check(ASSAY_CUBLASLT(cublasLtCreate, &raw));
    return Library{raw};
}

template <class T>
void set(const Operation& operation, cublasLtMatmulDescAttributes_t name, const T& value,
         const std::source_location& from = std::source_location::current()) {
    check(ASSAY_CUBLASLT(cublasLtMatmulDescSetAttribute, operation.get(), name,
                         static_cast<const void*>(&value), sizeof(T)),
          from);
}
template <class T>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t name, const T& value,
         const std::source_location& from = std::source_location::current()) {
    check(ASSAY_CUBLASLT(cublasLtMatmulPreferenceSetAttribute, preference.get(), name,
                         static_cast<const void*>(&value), sizeof(T)),
          from);
}

#if CUBLAS_VERSION >= 130100
using Emulation = Owner<cublasLtEmulationDesc_t>;

template <class T>
void set(const Emulation& emulation, cublasLtEmulationDescAttributes_t name, const T& value,
         const std::source_location& from = std::source_location::current()) {
    check(ASSAY_CUBLASLT(cublasLtEmulationDescSetAttribute, emulation.get(), name,
                         static_cast<const void*>(&value), sizeof(T)),
          from);
}
#endif

} // namespace assay::gemm
