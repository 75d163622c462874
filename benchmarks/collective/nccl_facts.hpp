// SPDX-License-Identifier: Apache-2.0
//
// What a module on NCCL says of itself: the versions of driver, runtime and NCCL.

#pragma once

#include "collective/nccl_error.hpp"
#include "device/properties.hpp"

#include <assay/define.hpp>

namespace assay::collective {

/// Of the library that is loaded, which need not be that of the header: 22809 is 2.28.9.
inline int nccl_version() {
    int version = 0;
    check(ncclGetVersion(&version));
    return version;
}

inline std::int32_t report_nccl(const assay_services* services, assay_text* error) {
    const std::int32_t failed = detail::guarded(error, [&] {
        const int version = nccl_version();
        Context{services}.setting(
            "nccl", joined(version / 10000, '.', version % 10000 / 100, '.', version % 100));
    });
    return failed != 0 ? failed : device::report_versions(services, error);
}

} // namespace assay::collective
