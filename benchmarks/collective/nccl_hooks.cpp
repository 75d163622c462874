// SPDX-License-Identifier: Apache-2.0
//
// What the module `nccl` says of itself: the versions of driver, runtime and NCCL.

#include "collective/nccl_error.hpp"
#include "device/properties.hpp"

#include <assay/define.hpp>

#include <string>

namespace assay::collective {
namespace {

std::int32_t report_nccl(const assay_services* services, assay_text* error) {
    const std::int32_t failed = detail::guarded(error, [&] {
        int version = 0; // 22809 is 2.28.9
        check(ncclGetVersion(&version));
        Context{services}.setting("nccl", std::to_string(version / 10000) + '.' +
                                              std::to_string(version % 10000 / 100) + '.' +
                                              std::to_string(version % 100));
    });
    return failed != 0 ? failed : device::report_versions(services, error);
}

} // namespace
} // namespace assay::collective

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = &assay::collective::report_nccl};
