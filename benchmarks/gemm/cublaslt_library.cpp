// SPDX-License-Identifier: Apache-2.0
//
// cuBLASLt's symbols carry the version of CUDA, and those of emulation are not in every library.
#include "device/opened.hpp"
#include "gemm/cublaslt_handles.hpp"

namespace assay::gemm {
namespace {

const device::Opened& found() {
    static const device::Opened once{"cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}};
    return once;
}

} // namespace

const std::string& why_no_library() { return found().why_not(); }

void* library_function(const char* name) { return found().function(name); }

} // namespace assay::gemm
