// SPDX-License-Identifier: Apache-2.0
//
// The runtime's calls on streams, events, copies, graphs and pools. Queued work runs at once, so that an order that
// streams do not promise is not tried; captured work runs when its graph is launched.

#include "block.hpp"
#include "devices.hpp"
#include "kernels.hpp"
#include "runtime.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

using Clock = std::chrono::steady_clock;
using Work = std::function<void()>;

// The types that CUDA's handles point at.
struct CUgraph_st {
    std::vector<Work> nodes;
};
struct CUgraphExec_st {
    std::vector<Work> nodes;
};
struct CUstream_st {
    int device;
    std::unique_ptr<CUgraph_st> captured;
};
struct CUevent_st {
    int device;
    std::optional<Clock::time_point> time;
};
struct CUmemPoolHandle_st {
    int device;
};

namespace assay::device_on_cpu {
namespace {

/// Handles that were made and not yet destroyed.
template <class Handle>
std::set<Handle>& alive() {
    static std::set<Handle> all;
    return all;
}
template <class Handle, class... Parts>
cudaError_t make(Handle* handle, Parts&&... parts) {
    *handle = new std::remove_pointer_t<Handle>{std::forward<Parts>(parts)...};
    alive<Handle>().insert(*handle);
    ++held().handles;
    return cudaSuccess;
}
template <class Handle>
bool is_alive(Handle handle) {
    return alive<Handle>().contains(handle);
}
template <class Handle>
cudaError_t destroy(Handle handle) {
    if (alive<Handle>().erase(handle) != 1) return answer(cudaErrorInvalidResourceHandle);
    delete handle;
    --held().handles;
    return cudaSuccess;
}

bool is_stream(cudaStream_t stream) { return stream == nullptr || is_alive(stream); }
int device_of_stream(cudaStream_t stream) {
    return stream == nullptr ? current_device() : stream->device;
}
bool is_captured(cudaStream_t stream) { return stream != nullptr && stream->captured != nullptr; }

/// Waiting for a stream that is captured would wait for ever.
cudaError_t waited(cudaStream_t stream) {
    if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
    return is_captured(stream) ? answer(cudaErrorStreamCaptureUnsupported) : device_error();
}

/// Do both ends lie where this kind of copy has them?
bool agrees(const void* to, const void* from, cudaMemcpyKind kind) {
    const bool to_device = device_of(to) >= 0;
    const bool from_device = device_of(from) >= 0;
    switch (kind) {
    case cudaMemcpyHostToHost:
        return !to_device && !from_device;
    case cudaMemcpyHostToDevice:
        return to_device && !from_device;
    case cudaMemcpyDeviceToHost:
        return !to_device && from_device;
    case cudaMemcpyDeviceToDevice:
        return to_device && from_device;
    default:
        return true;
    }
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    if (!is_whole(to, bytes) || !is_whole(from, bytes)) return answer(cudaErrorInvalidValue);
    if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
    enqueue(stream, [=] { std::memmove(to, from, bytes); });
    return cudaSuccess;
}

cudaError_t why_not(const Launch& how, cudaStream_t stream) {
    constexpr unsigned most_threads = 1024;
    const auto threads = std::uint64_t{how.threads.x} * how.threads.y * how.threads.z;
    const auto blocks = std::uint64_t{how.blocks.x} * how.blocks.y * how.blocks.z;
    if (threads == 0 || threads > most_threads || blocks == 0 || how.threads.z > 64 ||
        how.blocks.y > 65535 || how.blocks.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (how.blocks.x % how.cluster != 0 || !may_have_clusters(how.kernel, how.cluster))
        return cudaErrorInvalidClusterSize;
    const bool is_here = is_stream(stream) && device_of_stream(stream) == current_device();
    return is_here ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

} // namespace

void enqueue(cudaStream_t stream, std::function<void()> work) {
    if (is_captured(stream))
        stream->captured->nodes.push_back(std::move(work));
    else
        work();
}

bool is_capturing() {
    for (const auto* stream : alive<cudaStream_t>())
        if (stream->captured != nullptr) return true;
    return false;
}

void launch(const Launch& how, cudaStream_t stream, const std::function<void()>& body) {
    if (const cudaError_t status = why_not(how, stream); status != cudaSuccess) {
        answer(status);
        return;
    }
    enqueue(stream, [=] {
        const std::string fault = run_blocks(how, body);
        if (!fault.empty()) fail(fault);
        if (const auto what = overrun(); !what.empty()) fail(what);
    });
}

} // namespace assay::device_on_cpu

using namespace assay::device_on_cpu;

// --- streams and events ----------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    return make(stream, current_device());
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return destroy(stream); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return waited(stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return waited(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
    return answer(is_stream(stream) && is_alive(event) ? cudaSuccess
                                                       : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return make(event, current_device()); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return destroy(event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (!is_alive(event) || !is_stream(stream) || event->device != device_of_stream(stream))
        return answer(cudaErrorInvalidResourceHandle);
    if (is_captured(stream)) return answer(cudaErrorStreamCaptureUnsupported);
    event->time = Clock::now();
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return is_alive(event) ? device_error() : answer(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    if (!is_alive(from) || !is_alive(to) || !from->time || !to->time)
        return answer(cudaErrorInvalidResourceHandle);
    *milliseconds = std::chrono::duration<float, std::milli>(*to->time - *from->time).count();
    return cudaSuccess;
}

// --- copies ----------------------------------------------------------------------------------------------------------

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    if (!agrees(to, from, kind)) return answer(cudaErrorInvalidValue);
    return copy(to, from, bytes, stream);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (is_capturing()) return answer(cudaErrorStreamCaptureUnsupported);
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
    if (device_of(to) != to_device || device_of(from) != from_device)
        return answer(cudaErrorInvalidValue);
    return copy(to, from, bytes, stream);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    if (!is_whole(to, bytes) || device_of(to) < 0) return answer(cudaErrorInvalidValue);
    if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
    enqueue(stream, [=] { std::memset(to, value, bytes); });
    return cudaSuccess;
}

// --- capture and graphs ----------------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
    if (stream == nullptr || !is_alive(stream)) return answer(cudaErrorStreamCaptureUnsupported);
    if (is_captured(stream)) return answer(cudaErrorIllegalState);
    stream->captured = std::make_unique<CUgraph_st>();
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    if (!is_alive(stream) || !is_captured(stream)) return answer(cudaErrorIllegalState);
    *graph = stream->captured.release();
    alive<cudaGraph_t>().insert(*graph);
    return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* /*nodes*/, std::size_t* count) {
    if (!is_alive(graph)) return answer(cudaErrorInvalidValue);
    *count = graph->nodes.size();
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                 unsigned long long /*flags*/) {
    return is_alive(graph) ? make(made, graph->nodes) : answer(cudaErrorInvalidValue);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t made, cudaStream_t stream) {
    return answer(is_alive(made) && is_stream(stream) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) {
    if (!is_alive(made) || !is_stream(stream)) return answer(cudaErrorInvalidValue);
    for (const Work& work : made->nodes) enqueue(stream, work);
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return destroy(graph); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) { return destroy(made); }

// --- pools -----------------------------------------------------------------------------------------------------------

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
    const int device = props->location.id;
    if (device < 0 || device >= device_count()) return answer(cudaErrorInvalidValue);
    return make(pool, device);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { return destroy(pool); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr /*name*/, void* /*value*/) {
    return answer(is_alive(pool) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    if (!is_alive(pool) || !is_stream(stream)) return answer(cudaErrorInvalidValue);
    *memory = allocate(bytes);
    return answer(*memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
    if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
    return release(memory);
}
