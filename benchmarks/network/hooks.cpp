// SPDX-License-Identifier: Apache-2.0
#include "collective/world.hpp"
#include "resources.hpp"
#include "where.hpp"

#include <assay/define.hpp>

#include <ucp/api/ucp.h>

namespace assay::network {
namespace {

/// What this process runs with, which may be newer than what it was built for.
void report(const Context& context) {
    std::string found;
    for (const auto& transport : transports_found())
        found += (found.empty() ? "" : " ") + transport;
    context.setting("ucx.library", std::string{"UCX "} + ucp_get_version_string());
    context.setting("ucx.transports", found.empty() ? "none" : found);
}

} // namespace
} // namespace assay::network

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks =
    assay::mpi::module_of_job<assay::network::report, assay::mpi::report_library,
                              assay::network::report_place>();
