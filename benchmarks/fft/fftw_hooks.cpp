// SPDX-License-Identifier: Apache-2.0
//
// What the module `fftw` says beside its benchmarks: which FFTW was loaded.
#include <assay/define.hpp>

#include <fftw3.h>

namespace {

std::int32_t facts(const assay_services* services, assay_text* error) {
    return assay::detail::guarded(error, [&] {
        // Names the instruction sets it was built for, of which the planner tries what the CPU has.
        services->setting_text(services->context, "fftw.version", fftw_version);
        services->setting_text(services->context, "fftw.single.version", fftwf_version);
    });
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = facts};
