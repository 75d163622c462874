// SPDX-License-Identifier: Apache-2.0
//
// The runtime's calls on devices and their memory.

#include "devices.hpp"

#include "device/properties.hpp"
#include "runtime.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::device_on_cpu {
namespace {

constexpr int garbage = 0xdb;
constexpr std::size_t alignment = 256; // as cudaMalloc promises
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t guard = 0; // the sanitizer has its own, and says who
#else
constexpr std::size_t guard = alignment; // bytes before and after an allocation
#endif

std::int64_t number_of(const char* variable, std::int64_t otherwise) {
    const char* const text = std::getenv(variable); // NOLINT(concurrency-mt-unsafe)
    return text == nullptr || *text == '\0' ? otherwise : std::strtoll(text, nullptr, 10);
}

struct Allocation {
    std::size_t bytes;
    int device;
};

struct Devices {
    std::map<const std::byte*, Allocation> memory;
    std::set<const void*> pinned;
    std::set<const void*> large_clusters; ///< kernels that may have more than 8 blocks in one
    std::set<std::pair<int, int>> access; ///< first may reach into the second
    std::vector<std::size_t> used;
    int current = 0;
    cudaError_t last = cudaSuccess;
    cudaError_t of_device = cudaSuccess;

    Devices() : used(static_cast<std::size_t>(number_of("ASSAY_CPU_DEVICES", 1))) {}
    /// The allocation that an address lies in.
    auto around(const void* pointer) const {
        auto next = memory.upper_bound(static_cast<const std::byte*>(pointer));
        if (next == memory.begin()) return memory.end();
        --next;
        const auto distance =
            static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - next->first);
        return distance < next->second.bytes ? next : memory.end();
    }
};
Devices& devices() {
    static Devices all;
    return all;
}

bool is_device(int device) { return device >= 0 && device < device_count(); }

/// A gibibyte is what benchmarks leave to the driver.
std::size_t memory_of_device() {
    static const auto mebibytes = number_of("ASSAY_CPU_DEVICE_MIB", 1024 + 128);
    return static_cast<std::size_t>(mebibytes) << 20U;
}

int multiprocessors() {
    static const auto count = number_of("ASSAY_CPU_MULTIPROCESSORS", 2);
    return static_cast<int>(count);
}
/// Kernels are compiled as for 9.0 (kernel_words.hpp); libraries may do what later ones can.
int capability() { return static_cast<int>(number_of("ASSAY_CPU_CAPABILITY", 90)); }
/// Modules are built for warps of 32 or of 64 threads, and refuse the others.
int lanes_of_warp() { return static_cast<int>(number_of("ASSAY_CPU_LANES", 32)); }
constexpr int threads_per_multiprocessor = 1024;
constexpr int shared_of_multiprocessor = 228 << 10;
constexpr int l2_bytes = 1 << 20;

} // namespace

cudaError_t answer(cudaError_t status) {
    if (status != cudaSuccess) devices().last = status;
    return status;
}
void fail(const std::string& what) {
    std::fprintf(stderr, "device %d: %s\n", devices().current, what.c_str());
    devices().of_device = cudaErrorLaunchFailure;
}
cudaError_t device_error() { return answer(std::exchange(devices().of_device, cudaSuccess)); }

int device_count() {
    static const auto there = static_cast<int>(number_of("ASSAY_CPU_DEVICES", 1));
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); // NOLINT(concurrency-mt-unsafe)
    if (visible == nullptr) return there;
    const std::string_view names{visible};
    if (names.empty()) return 0;
    return std::min(there, 1 + static_cast<int>(std::ranges::count(names, ',')));
}
Held& held() {
    static Held all;
    return all;
}
int current_device() { return devices().current; }
int device_of(const void* pointer) {
    const auto found = devices().around(pointer);
    return found == devices().memory.end() ? -1 : found->second.device;
}

bool is_whole(const void* from, std::size_t bytes) {
    const auto found = devices().around(from);
    if (found == devices().memory.end()) return from != nullptr || bytes == 0;
    return static_cast<const std::byte*>(from) + bytes <= found->first + found->second.bytes;
}

void* allocate(std::size_t bytes) {
    Devices& all = devices();
    std::size_t& used = all.used[static_cast<std::size_t>(all.current)];
    if (used + bytes > memory_of_device()) return nullptr;
    void* whole = nullptr;
    if (::posix_memalign(&whole, alignment, guard + bytes + guard) != 0) return nullptr;
    std::memset(whole, garbage, guard + bytes + guard);
    used += bytes;
    auto* const memory = static_cast<std::byte*>(whole) + guard;
    all.memory[memory] = {.bytes = bytes, .device = all.current};
    return memory;
}

cudaError_t release(void* memory) {
    Devices& all = devices();
    if (memory == nullptr) return cudaSuccess;
    const auto found = all.memory.find(static_cast<std::byte*>(memory));
    if (found == all.memory.end()) return answer(cudaErrorInvalidValue);
    if (const auto what = overrun(); !what.empty()) fail(what);
    all.used[static_cast<std::size_t>(found->second.device)] -= found->second.bytes;
    all.memory.erase(found);
    std::free(static_cast<std::byte*>(memory) - guard);
    return cudaSuccess;
}

bool may_have_clusters(const void* kernel, unsigned blocks) {
    constexpr unsigned portable = 8;
    return blocks <= portable || (blocks <= 16 && devices().large_clusters.contains(kernel));
}

std::string overrun() {
    static const std::vector<std::byte> whole(guard, static_cast<std::byte>(garbage));
    for (const auto& [memory, allocation] : devices().memory)
        for (const auto* at : {memory - guard, memory + allocation.bytes})
            if (guard != 0 && std::memcmp(at, whole.data(), guard) != 0) {
                std::memset(const_cast<std::byte*>(at), garbage, guard); // said once
                return std::string{"a write "} + (at < memory ? "before" : "behind") + " the " +
                       std::to_string(allocation.bytes) + " bytes of an allocation";
            }
    return {};
}

} // namespace assay::device_on_cpu

using namespace assay::device_on_cpu;

namespace {

struct Words {
    const char* name;
    const char* text;
};
const Words& words_of(cudaError_t status) {
    static const std::map<cudaError_t, Words> known{
        {cudaSuccess, {"cudaSuccess", "no error"}},
        {cudaErrorInvalidValue, {"cudaErrorInvalidValue", "invalid argument"}},
        {cudaErrorMemoryAllocation, {"cudaErrorMemoryAllocation", "out of memory"}},
        {cudaErrorLaunchFailure, {"cudaErrorLaunchFailure", "unspecified launch failure"}},
        {cudaErrorInvalidResourceHandle,
         {"cudaErrorInvalidResourceHandle", "invalid resource handle"}},
        {cudaErrorInvalidConfiguration, {"cudaErrorInvalidConfiguration", "refused"}},
        {cudaErrorStreamCaptureUnsupported, {"cudaErrorStreamCaptureUnsupported", "refused"}},
        {cudaErrorNoDevice, {"cudaError", "no CUDA-capable device is detected"}}};
    static const Words other{"cudaError", "refused"};
    const auto found = known.find(status);
    return found == known.end() ? other : found->second;
}

} // namespace

// --- devices ---------------------------------------------------------------------------------------------------------

cudaError_t cudaGetLastError() {
    device_error();
    return std::exchange(devices().last, cudaSuccess);
}
const char* cudaGetErrorName(cudaError_t status) { return words_of(status).name; }
const char* cudaGetErrorString(cudaError_t status) { return words_of(status).text; }
cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaGetDeviceCount(int* count) {
    *count = device_count();
    return answer(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}
cudaError_t cudaSetDevice(int device) {
    if (!is_device(device)) return answer(cudaErrorInvalidDevice);
    devices().current = device;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* all, int device) {
    if (!is_device(device)) return answer(cudaErrorInvalidDevice);
    *all = {};
    assay::device::name_on_cpu.copy(all->name, sizeof all->name - 1);
    all->major = capability() / 10;
    all->minor = capability() % 10;
    all->multiProcessorCount = multiprocessors();
    all->maxThreadsPerMultiProcessor = threads_per_multiprocessor;
    all->maxThreadsPerBlock = 1024;
    all->warpSize = lanes_of_warp();
    all->sharedMemPerBlock = 48U << 10U;
    all->sharedMemPerBlockOptin = shared_of_multiprocessor - 1024;
    all->sharedMemPerMultiprocessor = shared_of_multiprocessor;
    all->totalGlobalMem = memory_of_device();
    all->l2CacheSize = l2_bytes;
    all->pciBusID = 16 + device; // as tests/support/fake_nvml.hpp has them
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int device) {
    if (!is_device(device)) return answer(cudaErrorInvalidDevice);
    const std::map<cudaDeviceAttr, int> known{
        {cudaDevAttrL2CacheSize, l2_bytes},
        {cudaDevAttrComputeCapabilityMajor, capability() / 10},
        {cudaDevAttrComputeCapabilityMinor, capability() % 10},
        {cudaDevAttrMultiProcessorCount, multiprocessors()},
        {cudaDevAttrMaxThreadsPerBlock, 1024},
        {cudaDevAttrMaxThreadsPerMultiProcessor, threads_per_multiprocessor},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, shared_of_multiprocessor - 1024},
        {cudaDevAttrAsyncEngineCount, 2},
        {cudaDevAttrWarpSize, lanes_of_warp()},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrMemoryPoolsSupported, 1}};
    const auto found = known.find(name);
    *value = found == known.end() ? 0 : found->second;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    return is_capturing() ? answer(cudaErrorStreamCaptureUnsupported) : device_error();
}
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
    *total = memory_of_device();
    *available = *total - devices().used[static_cast<std::size_t>(devices().current)];
    return cudaSuccess;
}

// --- peers -----------------------------------------------------------------------------------------------------------

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (!is_device(device) || !is_device(peer)) return answer(cudaErrorInvalidDevice);
    *can = device != peer && number_of("ASSAY_CPU_PEERS", 1) != 0 ? 1 : 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned /*flags*/) {
    if (!is_device(peer) || peer == devices().current) return answer(cudaErrorInvalidDevice);
    const bool is_new = devices().access.emplace(devices().current, peer).second;
    return answer(is_new ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    const bool was_there = devices().access.erase({devices().current, peer}) == 1;
    return answer(was_there ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}

// --- memory ----------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    if (is_capturing()) return answer(cudaErrorStreamCaptureUnsupported);
    *memory = bytes == 0 ? nullptr : allocate(bytes);
    return answer(*memory == nullptr && bytes != 0 ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaFree(void* memory) { return release(memory); }
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
    constexpr std::size_t page = 4096;
    if (::posix_memalign(memory, page, bytes) != 0) return answer(cudaErrorMemoryAllocation);
    std::memset(*memory, garbage, bytes);
    devices().pinned.insert(*memory);
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
    if (memory == nullptr) return cudaSuccess;
    if (devices().pinned.erase(memory) != 1) return answer(cudaErrorInvalidValue);
    std::free(memory);
    return cudaSuccess;
}
// --- kernels as functions --------------------------------------------------------------------------------------------

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute name, int value) {
    const bool is_too_much = name == cudaFuncAttributeMaxDynamicSharedMemorySize &&
                             value > shared_of_multiprocessor - 1024;
    if (name == cudaFuncAttributeNonPortableClusterSizeAllowed && value != 0)
        devices().large_clusters.insert(kernel);
    return answer(kernel == nullptr || is_too_much ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* of, const void* kernel) {
    if (kernel == nullptr) return answer(cudaErrorInvalidDeviceFunction);
    *of = {};
    of->ptxVersion = of->binaryVersion = 90;
    of->maxThreadsPerBlock = 1024;
    return cudaSuccess;
}
/// The device has one processing cluster of 16 multiprocessors.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
    const unsigned blocks = config->attrs->val.clusterDim.x;
    if (!may_have_clusters(kernel, blocks)) return answer(cudaErrorInvalidClusterSize);
    *clusters = static_cast<int>(16 / blocks);
    return cudaSuccess;
}
// CUDA's header has its other form call this one.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int threads, std::size_t shared,
                                                                   unsigned /*flags*/) {
    if (kernel == nullptr || threads < 1) return answer(cudaErrorInvalidValue);
    const auto by_memory = static_cast<int>(shared_of_multiprocessor / (shared + 1024));
    *blocks = threads > 1024 ? 0 : std::min(threads_per_multiprocessor / threads, by_memory);
    return cudaSuccess;
}
