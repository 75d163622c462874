// SPDX-License-Identifier: Apache-2.0
//
// What the module `onednn` says beside its benchmarks: which oneDNN was loaded.

#include <assay/define.hpp>

#include <dnnl.hpp>

#include <string>

namespace {

std::int32_t facts(const assay_services* services, assay_text* error) {
    return assay::detail::guarded(error, [&] {
        const dnnl_version_t& version = *dnnl::version();
        const std::string number =
            assay::joined(version.major, '.', version.minor, '.', version.patch);
        services->setting_text(services->context, "onednn.version", number.c_str());
    });
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = facts};
