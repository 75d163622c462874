// SPDX-License-Identifier: Apache-2.0
#include "collective/nccl_data.hpp"
#include "pretended.hpp"

#include <assay/verify.hpp>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

namespace assay::pretended {
namespace {

using Clock = std::chrono::steady_clock;

struct Memory {
    std::size_t bytes;
    int device;
};

int current = 0;
std::map<const char*, Memory>& memories() {
    static std::map<const char*, Memory> all;
    return all;
}

} // namespace

World& world() {
    static World the_world;
    return the_world;
}

void complain(const std::string& what) {
    if (world().complaint.empty()) world().complaint = what;
}

int device_of_memory(const void* address) {
    const auto* at = static_cast<const char*>(address);
    auto found = memories().upper_bound(at);
    if (found == memories().begin()) return -1;
    --found;
    return at < found->first + found->second.bytes ? found->second.device : -1;
}

} // namespace assay::pretended

using assay::pretended::Clock;
using assay::pretended::complain;
using assay::pretended::current;
using assay::pretended::device_of_memory;
using assay::pretended::memories;
using assay::pretended::world;

struct CUstream_st {
    int device;
};
struct CUevent_st {
    int device;
    Clock::time_point time;
    int questions; ///< since it was recorded: the first ones are answered with "not ready"
};

int assay::pretended::device_of_stream(const void* stream) {
    return stream == nullptr ? -1 : static_cast<const CUstream_st*>(stream)->device;
}

// --- the functions that are used ---------------------------------------------------------------------

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= world().devices) return cudaErrorInvalidDevice;
    current = device;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    *count = world().devices;
    return world().devices > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaDriverGetVersion(int* version) {
    *version = 13000;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t /*status*/) { return "refused"; }
const char* cudaGetErrorName(cudaError_t /*status*/) { return "cudaError"; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int /*device*/) {
    *value = name == cudaDevAttrComputeCapabilityMajor   ? world().capability / 10
             : name == cudaDevAttrComputeCapabilityMinor ? world().capability % 10
                                                         : 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    *can = device != peer && world().reach_each_other ? 1 : 0;
    return cudaSuccess;
}
// Its versioned name is the header's affair.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int /*device*/) {
    std::memset(properties, 0, sizeof *properties);
    properties->totalGlobalMem = world().memory_bytes;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
    *available = *total = world().memory_bytes;
    return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    auto* const made = static_cast<char*>(std::malloc(bytes));
    memories()[made] = {.bytes = bytes, .device = current};
    ++world().memories;
    *memory = made;
    return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
    if (memories().erase(static_cast<char*>(memory)) != 1) complain("free of what is no memory");
    --world().memories;
    std::free(memory);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    const auto* end = static_cast<const char*>(to) + bytes - 1;
    if (device_of_memory(to) != stream->device || device_of_memory(end) != stream->device)
        complain("memset outside of the device's memory");
    std::memset(to, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    *stream = new CUstream_st{current};
    ++world().streams;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete stream;
    --world().streams;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) {
    *event = new CUevent_st{current, {}, 0};
    ++world().events;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    --world().events;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (event->device != stream->device) complain("an event of another device than its stream");
    event->time = Clock::now();
    event->questions = 0;
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return ++event->questions < 3 ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t /*event*/) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return cudaSuccess;
}

// --- the kernels of nccl_data.cu ---------------------------------------------------------------------

namespace assay::collective {
namespace {

/// A launch needs the stream's device to be the current one, and reaches that device's memory.
void launch(const device::Stream& stream, const void* memory, std::uint64_t bytes) {
    const int device = pretended::device_of_stream(stream.get());
    if (device != current) pretended::complain("a launch on a stream of another device");
    const auto* end = static_cast<const char*>(memory) + bytes - 1;
    if (device_of_memory(memory) != device || device_of_memory(end) != device)
        pretended::complain("a kernel outside of its device's memory");
}

double load(const void* from, Element element, std::uint64_t i) {
    return element == Element::fp64 ? static_cast<const double*>(from)[i]
                                    : static_cast<double>(static_cast<const float*>(from)[i]);
}
void store(void* to, Element element, std::uint64_t i, double value) {
    if (element == Element::fp64)
        static_cast<double*>(to)[i] = value;
    else
        static_cast<float*>(to)[i] = static_cast<float>(value);
}

} // namespace

void fill_values(const device::Stream& stream, void* to, Element element, std::uint64_t count,
                 int rank, std::int64_t largest) {
    launch(stream, to, count * static_cast<std::uint64_t>(bytes_of(element)));
    for (std::uint64_t i = 0; i < count; ++i) store(to, element, i, value_at(rank, i, largest));
}

Check check_values(const device::Stream& stream, const void* from, Element element,
                   std::uint64_t count, const Expected& expected, double bound) {
    launch(stream, from, count * static_cast<std::uint64_t>(bytes_of(element)));
    return check_each(
        count, [&](std::size_t i) { return expected.error(i, load(from, element, i)); }, bound,
        "every element");
}

void spoil_value(const device::Stream& stream, void* at, Element element, std::uint64_t index,
                 double step) {
    launch(stream, at, (index + 1) * static_cast<std::uint64_t>(bytes_of(element)));
    store(at, element, index, spoiled(load(at, element, index), step));
}

} // namespace assay::collective
