// SPDX-License-Identifier: Apache-2.0
#include "collective/world.hpp"
#include "resources.hpp"
#include "where.hpp"

#include <assay/define.hpp>

#include <ucp/api/ucp.h>

#include <string>

namespace {

/// What this process runs with, which may be newer than what it was built for.
std::int32_t facts(const assay_services* services, assay_text* error) {
    const auto failed = assay::detail::guarded(error, [&] {
        std::string found;
        for (const auto& transport : assay::network::transports_found())
            found += (found.empty() ? "" : " ") + transport;
        const auto say = [&](const char* name, const std::string& value) {
            services->setting_text(services->context, name, value.c_str());
        };
        say("ucx.library", std::string{"UCX "} + ucp_get_version_string());
        say("ucx.transports", found.empty() ? "none" : found);
        say("mpi.library", assay::mpi::library_version());
    });
    return failed != 0 ? failed : assay::network::report_place(services, error);
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks = assay::mpi::module_of_job(facts);
