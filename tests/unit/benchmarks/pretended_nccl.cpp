// SPDX-License-Identifier: Apache-2.0
//
// All ranks in one process: calls are done when the group ends, for all of them at once.
#include "collective/nccl_error.hpp"
#include "pretended.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

using assay::pretended::complain;
using assay::pretended::device_of_memory;
using assay::pretended::device_of_stream;
using assay::pretended::world;

struct ncclComm {
    int rank;
    int ranks;
};

namespace {

enum class What : std::uint8_t { allreduce, reduce_scatter, allgather, broadcast, send, receive };

struct Call {
    What what;
    const void* from;
    void* to;
    std::size_t count;
    std::size_t width; ///< bytes of a number
    int peer;          ///< or root
    ncclComm* communicator;
};

int depth = 0;
std::vector<Call>& queue() {
    static std::vector<Call> calls;
    return calls;
}

/// As NCCL does it: to the file that a variable names, read at the first line.
void log(const std::string& text) {
    static std::ofstream file{[] {
        const char* path = std::getenv("NCCL_DEBUG_FILE"); // NOLINT(concurrency-mt-unsafe)
        return std::string{path == nullptr ? "/dev/null" : path};
    }()};
    file << "host:1:1 [0] NCCL INFO " << text << '\n' << std::flush;
}

std::size_t width_of(ncclDataType_t type) {
    if (type == ncclFloat64) return 8;
    if (type != ncclFloat32) complain("a type that is not pretended");
    return 4;
}

template <class T>
void add_up(const std::vector<Call>& calls, bool scatter) {
    const auto ranks = calls.size();
    const std::size_t count = calls[0].count * (scatter ? ranks : 1);
    std::vector<T> sum(count, 0);
    for (const auto& call : calls)
        for (std::size_t i = 0; i < count; ++i) sum[i] += static_cast<const T*>(call.from)[i];
    for (const auto& call : calls) {
        const auto at =
            scatter ? static_cast<std::size_t>(call.communicator->rank) * call.count : 0;
        std::copy_n(sum.begin() + static_cast<std::ptrdiff_t>(at), call.count,
                    static_cast<T*>(call.to));
    }
}

/// The blocks of all ranks, copied before any is overwritten.
std::vector<std::vector<char>> inputs(const std::vector<Call>& calls) {
    std::vector<std::vector<char>> all(calls.size());
    for (const auto& call : calls) {
        const auto* from = static_cast<const char*>(call.from);
        all[static_cast<std::size_t>(call.communicator->rank)].assign(from, from + call.count *
                                                                                       call.width);
    }
    return all;
}

void together(const std::vector<Call>& calls) {
    const auto& first = calls.front();
    if (calls.size() != static_cast<std::size_t>(first.communicator->ranks))
        complain("a collective without all ranks");
    if (first.what == What::allreduce || first.what == What::reduce_scatter) {
        const bool scatter = first.what == What::reduce_scatter;
        return first.width == 8 ? add_up<double>(calls, scatter) : add_up<float>(calls, scatter);
    }
    const auto sent = inputs(calls);
    for (const auto& call : calls) {
        auto* to = static_cast<char*>(call.to);
        if (first.what == What::broadcast)
            std::ranges::copy(sent[static_cast<std::size_t>(call.peer)], to);
        else
            for (const auto& block : sent) to = std::ranges::copy(block, to).out;
    }
}

void pass(const std::vector<Call>& calls) {
    std::vector<bool> taken(calls.size());
    for (const auto& call : calls) {
        if (call.what != What::receive) continue;
        bool found = false;
        for (std::size_t i = 0; i < calls.size() && !found; ++i) {
            const auto& other = calls[i];
            found = !taken[i] && other.what == What::send &&
                    other.peer == call.communicator->rank && other.communicator->rank == call.peer;
            if (!found) continue;
            taken[i] = true;
            std::memcpy(call.to, other.from, call.count * call.width);
        }
        if (!found) complain("a receive that nobody sends to");
    }
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (calls[i].what == What::send && !taken[i]) complain("a send that nobody receives");
}

void reaches(const void* memory, std::size_t bytes, int device) {
    if (device_of_memory(memory) != device ||
        device_of_memory(static_cast<const char*>(memory) + bytes - 1) != device)
        complain("NCCL reaches outside of the device's memory");
}

ncclResult_t take(Call call, cudaStream_t stream) {
    const int device = device_of_stream(stream);
    const auto ranks = static_cast<std::size_t>(call.communicator->ranks);
    const auto bytes = call.count * call.width;
    if (device != call.communicator->rank) complain("a stream of another device");
    if (call.what != What::receive)
        reaches(call.from, call.what == What::reduce_scatter ? bytes * ranks : bytes, device);
    if (call.what != What::send)
        reaches(call.to, call.what == What::allgather ? bytes * ranks : bytes, device);
    if (depth == 0) complain("a call for one of several ranks outside of a group");
    queue().push_back(call);
    return ncclSuccess;
}

} // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t /*status*/) { return "internal error"; }
const char* ncclGetLastError(ncclComm_t /*communicator*/) { return "as pretended"; }
ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int count, const int* /*devices*/) {
    for (int rank = 0; rank < count; ++rank) communicators[rank] = new ncclComm{rank, count};
    world().communicators += count;
    log("Pattern 4, crossNic 0, nChannels 4, bw 30.0/30.0, type " + world().link +
        "/PIX, sameChannels 1");
    log("Channel 00/0 : 0[0] -> 1[1] via " + world().connection);
    return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
    delete communicator;
    --world().communicators;
    return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
    ++world().aborted;
    return ncclCommDestroy(communicator);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t /*communicator*/, ncclResult_t* late) {
    *late = ncclSuccess;
    return ncclSuccess;
}
ncclResult_t ncclMemAlloc(void** memory, std::size_t bytes) {
    return cudaMalloc(memory, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclMemFree(void* memory) {
    return cudaFree(memory) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclCommRegister(ncclComm_t communicator, void* memory, std::size_t bytes,
                              void** handle) {
    reaches(memory, bytes, communicator->rank);
    ++world().registrations;
    *handle = memory;
    return ncclSuccess;
}
ncclResult_t ncclCommDeregister(ncclComm_t /*communicator*/, void* /*handle*/) {
    --world().registrations;
    return ncclSuccess;
}
ncclResult_t ncclCommWindowRegister(ncclComm_t communicator, void* memory, std::size_t bytes,
                                    ncclWindow_t* window, int flags) {
    reaches(memory, bytes, communicator->rank);
    if (depth == 0) complain("windows of several ranks are made in a group");
    if (flags != NCCL_WIN_COLL_SYMMETRIC) complain("a window that is not symmetric");
    if (!world().has_windows) return ncclSuccess;
    ++world().registrations;
    *window = static_cast<ncclWindow_t>(memory);
    return ncclSuccess;
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t communicator, ncclWindow_t window) {
    return ncclCommDeregister(communicator, window);
}

ncclResult_t ncclGroupStart() {
    ++depth;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    if (--depth > 0 || queue().empty()) return ncclSuccess;
    const auto calls = std::move(queue());
    queue().clear();
    if (world().calls++ == world().fails_at) return ncclInternalError;
    const bool passes = calls[0].what == What::send || calls[0].what == What::receive;
    if (!passes)
        log("AllReduce: 64 Bytes -> Algo " + world().algorithm +
            " proto SIMPLE channel{Lo..Hi}={0..3}");
    if (passes)
        pass(calls);
    else
        together(calls);
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t /*operation*/, ncclComm_t communicator,
                           cudaStream_t stream) {
    return take({What::allreduce, from, to, count, width_of(type), 0, communicator}, stream);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t /*operation*/, ncclComm_t communicator,
                               cudaStream_t stream) {
    return take({What::reduce_scatter, from, to, count, width_of(type), 0, communicator}, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
    return take({What::allgather, from, to, count, width_of(type), 0, communicator}, stream);
}
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t communicator, cudaStream_t stream) {
    return take({What::broadcast, from, to, count, width_of(type), root, communicator}, stream);
}
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
    return take({What::send, from, nullptr, count, width_of(type), peer, communicator}, stream);
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
    return take({What::receive, nullptr, to, count, width_of(type), peer, communicator}, stream);
}

} // extern "C"
