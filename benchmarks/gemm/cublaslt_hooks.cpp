// SPDX-License-Identifier: Apache-2.0
//
// What the module `cublaslt` says of itself: the versions of library, driver and runtime.

#include "device/properties.hpp"

#include <assay/define.hpp>

#include <cublasLt.h>

#include <string>

namespace {

std::int32_t facts(const assay_services* services, assay_text* error) {
    const std::size_t version = cublasLtGetVersion();
    const std::string text = std::to_string(version / 10000) + '.' +
                             std::to_string(version / 100 % 100) + '.' +
                             std::to_string(version % 100);
    services->setting_text(services->context, "cublaslt.version", text.c_str());
    return assay::device::report_versions(services, error);
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = &facts};
