// SPDX-License-Identifier: Apache-2.0
//
// What the module `cufft` says of itself: the versions of driver, runtime and library.

#include "cufft_plan.hpp"
#include "device/properties.hpp"

#include <assay/define.hpp>

namespace {

std::int32_t facts(const assay_services* services, assay_text* error) {
    const std::int32_t failed = assay::detail::guarded(error, [&] {
        int version = 0;
        assay::fft::check(cufftGetVersion(&version));
        services->setting_number(services->context, "cufft.version", version);
    });
    return failed != 0 ? failed : assay::device::report_versions(services, error);
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = facts};
