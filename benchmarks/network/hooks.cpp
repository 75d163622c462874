// SPDX-License-Identifier: Apache-2.0
#include "collective/world.hpp"
#include "resources.hpp"
#include "where.hpp"

#include <assay/define.hpp>

#ifdef ASSAY_OFI
#include <rdma/fabric.h>
#else
#include <ucp/api/ucp.h>
#endif

namespace assay::network {
namespace {

/// The version that this process runs with, which may be newer than the one it was built for.
void report(const Context& context) {
    std::string found;
    for (const auto& transport : transports_found())
        found += (found.empty() ? "" : " ") + transport;
#ifdef ASSAY_OFI
    const auto version = fi_version();
    context.setting("ofi.library", joined("libfabric ", FI_MAJOR(version), '.', FI_MINOR(version)));
    context.setting("ofi.providers", found.empty() ? "none" : found);
#else
    context.setting("ucx.library", std::string{"UCX "} + ucp_get_version_string());
    context.setting("ucx.transports", found.empty() ? "none" : found);
#endif
}

} // namespace
} // namespace assay::network

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks =
    assay::mpi::module_of_job<assay::network::report, assay::mpi::report_library,
                              assay::network::report_place>();
