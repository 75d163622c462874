// SPDX-License-Identifier: Apache-2.0
//
// RCCL's functions, each the one of the library that is found when it is first needed.
#include "collective/nccl_members.hpp"
#include "device/opened.hpp"

#include <array>

namespace assay::collective {
namespace {

const device::Opened& opened() {
    static const device::Opened once{"RCCL", {"librccl.so.1", "/opt/rocm/lib/librccl.so.1"}};
    return once;
}

/// Without these nothing can be measured; others are for registered buffers, or new.
constexpr std::array needed{
    "ncclGetVersion",  "ncclGetErrorString", "ncclGetUniqueId", "ncclCommInitRank",
    "ncclCommInitAll", "ncclCommDestroy",    "ncclCommAbort",   "ncclCommGetAsyncError",
    "ncclGroupStart",  "ncclGroupEnd",       "ncclAllReduce",   "ncclReduceScatter",
    "ncclAllGather",   "ncclBroadcast",      "ncclSend",        "ncclRecv"};

template <auto function, class... Arguments>
ncclResult_t call(const char* name, Arguments... arguments) {
    static const auto found = reinterpret_cast<decltype(function)>(opened().function(name));
    return found == nullptr ? ncclSystemError : found(arguments...);
}

} // namespace

const std::string& why_no_nccl() {
    static const std::string why = opened().why_not(needed, "ROCm 5.0");
    return why;
}

} // namespace assay::collective

using assay::collective::call;
using assay::collective::opened;

extern "C" {

// NOLINTBEGIN(readability-identifier-naming)
const char* ncclGetErrorString(ncclResult_t status) {
    static const auto found =
        reinterpret_cast<decltype(&ncclGetErrorString)>(opened().function("ncclGetErrorString"));
    return found == nullptr ? "RCCL cannot be loaded" : found(status);
}
const char* ncclGetLastError(ncclComm_t communicator) {
    static const auto found =
        reinterpret_cast<decltype(&ncclGetLastError)>(opened().function("ncclGetLastError"));
    return found == nullptr ? nullptr : found(communicator);
}

#define ASSAY_RCCL_CALL(name, parameters, ...)                                                     \
    ncclResult_t name parameters { return call<&name>(#name __VA_OPT__(, ) __VA_ARGS__); }
ASSAY_RCCL_CALL(ncclGetVersion, (int* version), version)
ASSAY_RCCL_CALL(ncclGetUniqueId, (ncclUniqueId * id), id)
ASSAY_RCCL_CALL(ncclCommInitRank, (ncclComm_t * made, int ranks, ncclUniqueId id, int rank), made,
                ranks, id, rank)
ASSAY_RCCL_CALL(ncclCommInitAll, (ncclComm_t * made, int count, const int* devices), made, count,
                devices)
ASSAY_RCCL_CALL(ncclCommDestroy, (ncclComm_t c), c)
ASSAY_RCCL_CALL(ncclCommAbort, (ncclComm_t c), c)
ASSAY_RCCL_CALL(ncclCommGetAsyncError, (ncclComm_t c, ncclResult_t* error), c, error)
ASSAY_RCCL_CALL(ncclCommRegister, (ncclComm_t c, void* memory, std::size_t bytes, void** handle), c,
                memory, bytes, handle)
ASSAY_RCCL_CALL(ncclCommDeregister, (ncclComm_t c, void* handle), c, handle)
ASSAY_RCCL_CALL(ncclMemAlloc, (void** memory, std::size_t bytes), memory, bytes)
ASSAY_RCCL_CALL(ncclMemFree, (void* memory), memory)
ASSAY_RCCL_CALL(ncclGroupStart, ())
ASSAY_RCCL_CALL(ncclGroupEnd, ())
ASSAY_RCCL_CALL(ncclAllReduce,
                (const void* from, void* to, std::size_t count, ncclDataType_t type,
                 ncclRedOp_t operation, ncclComm_t c, cudaStream_t stream),
                from, to, count, type, operation, c, stream)
ASSAY_RCCL_CALL(ncclReduceScatter,
                (const void* from, void* to, std::size_t count, ncclDataType_t type,
                 ncclRedOp_t operation, ncclComm_t c, cudaStream_t stream),
                from, to, count, type, operation, c, stream)
ASSAY_RCCL_CALL(ncclAllGather,
                (const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t c,
                 cudaStream_t stream),
                from, to, count, type, c, stream)
ASSAY_RCCL_CALL(ncclBroadcast,
                (const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                 ncclComm_t c, cudaStream_t stream),
                from, to, count, type, root, c, stream)
ASSAY_RCCL_CALL(ncclSend,
                (const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t c,
                 cudaStream_t stream),
                from, count, type, peer, c, stream)
ASSAY_RCCL_CALL(ncclRecv,
                (void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t c,
                 cudaStream_t stream),
                to, count, type, peer, c, stream)
#undef ASSAY_RCCL_CALL
// NOLINTEND(readability-identifier-naming)

} // extern "C"
