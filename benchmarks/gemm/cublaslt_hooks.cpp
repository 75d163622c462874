// SPDX-License-Identifier: Apache-2.0
//
// What the module `cublaslt` says of itself: the versions of library, driver and runtime.

#include "device/properties.hpp"
#include "gemm/cublaslt_handles.hpp"

#include <assay/define.hpp>

#include <string>

namespace {

std::int32_t facts(const assay_services* services, assay_text* error) {
    if (const std::string& why = assay::gemm::why_no_library(); !why.empty()) {
        assay::detail::write(*error, why);
        return 1;
    }
    const std::size_t version = cublasLtGetVersion();
    const std::string text =
        assay::joined(version / 10000, '.', version / 100 % 100, '.', version % 100);
    services->setting_text(services->context, "cublaslt.version", text.c_str());
    return assay::device::report_versions(services, error);
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = &facts};
