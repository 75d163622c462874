// SPDX-License-Identifier: Apache-2.0
//
// What the module `nccl_mpi` says of itself, and how its ranks meet.

#include "collective/nccl_facts.hpp"
#include "collective/world.hpp"

namespace {

std::int32_t facts(const assay_services* services, assay_text* error) {
    const auto failed = assay::detail::guarded(error, [&] {
        assay::Context{services}.setting("mpi.library", assay::mpi::library_version());
    });
    return failed != 0 ? failed : assay::collective::report_nccl(services, error);
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks = assay::mpi::module_of_job(facts);
