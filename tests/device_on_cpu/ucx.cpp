// SPDX-License-Identifier: Apache-2.0
//
// UCX that knows the memory of devices on the CPU: for the host's UCX it is memory like any other. Linked in front of
// UCX's calls (--wrap) in module ucx_cuda, and in front of what benchmarks/network/resources.cpp finds.

#include "network/resources.hpp"

#include <cuda_runtime_api.h>
#include <ucp/api/ucp.h>

#include <map>
#include <string>
#include <vector>

namespace {

/// Memory allocated for UCX, by its handle.
std::map<ucp_mem_h, void*>& allocated() {
    static std::map<ucp_mem_h, void*> all;
    return all;
}

} // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
extern "C" {

ucs_status_t __real_ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t* wanted,
                                ucp_mem_h* made);
ucs_status_t __real_ucp_mem_unmap(ucp_context_h context, ucp_mem_h memory);

ucs_status_t __wrap_ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t* wanted,
                                ucp_mem_h* made) {
    if (wanted->memory_type != UCS_MEMORY_TYPE_CUDA)
        return __real_ucp_mem_map(context, wanted, made);
    ucp_mem_map_params_t params = *wanted;
    if (cudaMalloc(&params.address, params.length) != cudaSuccess) return UCS_ERR_NO_MEMORY;
    params.memory_type = UCS_MEMORY_TYPE_HOST;
    params.flags = 0;
    const auto status = __real_ucp_mem_map(context, &params, made);
    if (status == UCS_OK)
        allocated()[*made] = params.address;
    else
        cudaFree(params.address);
    return status;
}

ucs_status_t __wrap_ucp_mem_unmap(ucp_context_h context, ucp_mem_h memory) {
    const auto found = allocated().extract(memory);
    const auto status = __real_ucp_mem_unmap(context, memory);
    if (!found.empty()) cudaFree(found.mapped());
    return status;
}

} // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace assay::network {

/// The functions that resources.cpp finds: CMake has it compiled under this name.
std::vector<std::string> transports_of_host();

std::vector<std::string> transports_found() {
    auto found = transports_of_host();
    found.emplace_back("cuda_copy");
    return found;
}

} // namespace assay::network
