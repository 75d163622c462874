// SPDX-License-Identifier: Apache-2.0
//
// One process with all devices: the module `nccl`.

#include "collective/nccl_members.hpp"
#include "device/properties.hpp"

#include <assay/define.hpp>

namespace assay::collective {

Crowd crowd_of(Symbolic wanted, int devices, const Machine& /*machine*/) {
    return {.ranks = wanted.symbol == Symbol::none ? static_cast<int>(wanted.number) : devices};
}

Members join_members(Symbolic wanted, int devices, const Context& context) {
    const int ranks = crowd_of(wanted, devices, context.machine()).ranks;
    return {.ranks = ranks, .here = ranks, .on_machine = ranks};
}

std::vector<ncclComm_t> communicators_of(const Members& members) {
    std::vector<ncclComm_t> communicators(static_cast<std::size_t>(members.here));
    check(ncclCommInitAll(communicators.data(), members.here, nullptr));
    return communicators;
}

void tell_failure() noexcept {}
bool another_failed() { return false; }

} // namespace assay::collective

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{
    .facts = assay::facts<assay::collective::report_nccl, assay::device::report_versions>};
