// SPDX-License-Identifier: Apache-2.0

#include "device/properties.hpp"

#include "device/error.hpp"
#include "device/footprint.hpp"
#include "device/warp.hpp"

#include <assay/define.hpp>

#include <algorithm>

namespace assay::device {
namespace {

int attribute(cudaDeviceAttr name) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, name, 0));
    return value;
}

#ifdef ASSAY_HIP
constexpr const char* no_driver = "no AMD driver is loaded";
constexpr const char* runtime_name = "HIP";
constexpr const char* driver_fact = "hip.driver";
constexpr const char* runtime_fact = "hip.runtime";
/// 50221153 is "5.2"
std::string version_text(int version) {
    return joined(version / 10'000'000, '.', version / 100'000 % 100);
}
#else
constexpr const char* no_driver = "no NVIDIA driver is loaded";
constexpr const char* runtime_name = "CUDA";
constexpr const char* driver_fact = "cuda.driver";
constexpr const char* runtime_fact = "cuda.runtime";
/// 13000 is "13.0"
std::string version_text(int version) { return joined(version / 1000, '.', version % 1000 / 10); }
#endif

/// Why the runtime sees no device, in words that say what would help.
std::string why_none(cudaError_t status) {
    std::string words = "not applicable: ";
    int driver = 0;
    int runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        words += no_driver;
    else if (status == cudaErrorInsufficientDriver)
        words += joined("the driver speaks ", runtime_name, ' ', version_text(driver),
                        ", this build needs ", version_text(runtime));
    else
        words += joined("no ", runtime_name, " device: ", cudaGetErrorString(status));
    cudaGetLastError(); // or a later call would find this error
    return words;
}

} // namespace

int attribute(cudaDeviceAttr name, int unknown) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, name, 0) == cudaSuccess) return value;
    cudaGetLastError(); // or a later call would find this error
    return unknown;
}

Properties properties() {
    check(cudaSetDevice(0));
    cudaDeviceProp all{};
    check(cudaGetDeviceProperties(&all, 0));
    std::size_t available = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&available, &total));
    return {.name = all.name,
            .capability = 10 * all.major + all.minor,
            .multiprocessors = all.multiProcessorCount,
            .memory_bytes = static_cast<std::int64_t>(total),
            .memory_available = static_cast<std::int64_t>(available),
            .l2_bytes = attribute(cudaDevAttrL2CacheSize),
            .threads_per_multiprocessor = all.maxThreadsPerMultiProcessor,
            .shared_bytes_per_block =
                std::max(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
                         static_cast<int>(all.sharedMemPerBlock))};
}

Fit fits_any_device() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) return Fit::no(why_none(status));
    const int lanes = attribute(cudaDevAttrWarpSize, static_cast<int>(warp_lanes));
    if (lanes != static_cast<int>(warp_lanes))
        return Fit::no("not applicable: warps of this device have ", lanes,
                       " threads, this module is built for ", warp_lanes);
    return Fit::yes();
}

Fit fits_device(std::int64_t bytes, int capability) {
    if (auto fit = fits_any_device(); !fit) return fit;
    const Properties found = properties();
    if (found.capability < capability)
        return Fit::no("not applicable: needs compute capability ", capability / 10, '.',
                       capability % 10, ", ", found.name, " has ", found.capability / 10, '.',
                       found.capability % 10);
    return Fit::needs(bytes + reserve_bytes <= found.memory_available, bytes,
                      " bytes of free memory on ", found.name, ", there are ",
                      found.memory_available);
}

std::int64_t footprint(Symbolic wanted, std::int64_t arrays, const Properties& properties) {
    return footprint_bytes(wanted, arrays, properties.l2_bytes, properties.memory_available);
}

void mark(const Context& context) {
    cudaDeviceProp all{};
    check(cudaGetDeviceProperties(&all, 0));
    if (all.name == name_on_cpu) context.setting("executed_on", "cpu");
}

void report_versions(const Context& context) {
    int driver = 0;
    int runtime = 0;
    check(cudaDriverGetVersion(&driver));
    check(cudaRuntimeGetVersion(&runtime));
    if (driver == 0) throw Error{no_driver};
    context.setting(driver_fact, version_text(driver));
    context.setting(runtime_fact, version_text(runtime));
    if (const Fit any = fits_any_device(); !any) throw Error{any.why()};
}

} // namespace assay::device
