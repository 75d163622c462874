// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt as it is found when it is first needed. Its symbols carry the version of CUDA, and those of
// emulation are not in every library, so that a module that is linked to it loads with one version alone.
#include "gemm/cublaslt_handles.hpp"

#include <dlfcn.h>

#include <array>

namespace assay::gemm {
namespace {

struct Found {
    void* library = nullptr;
    std::string why_not;
};

Found open() {
    constexpr std::array names{"libcublasLt.so.13", "libcublasLt.so.12"};
    Found found;
    for (const char* name : names) {
        // Never closed: the library's threads and its memory on the device outlive a module.
        found.library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (found.library != nullptr) return {.library = found.library, .why_not = {}};
        found.why_not += found.why_not.empty() ? "cuBLASLt cannot be loaded: " : "; ";
        found.why_not += ::dlerror();
    }
    return found;
}

const Found& found() {
    static const Found once = open();
    return once;
}

} // namespace

const std::string& why_no_library() { return found().why_not; }

void* library_function(const char* name) {
    return found().library == nullptr ? nullptr : ::dlsym(found().library, name);
}

} // namespace assay::gemm
