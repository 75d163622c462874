// SPDX-License-Identifier: Apache-2.0
//
// What the module `mpi` says of itself, and how its ranks meet.

#include "world.hpp"

#include <assay/define.hpp>

namespace {

std::int32_t facts(const assay_services* services, assay_text* error) {
    return assay::detail::guarded(error, [&] {
        assay::Context{services}.setting("mpi.library", assay::mpi::library_version());
    });
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks = assay::mpi::module_of_job(facts);
