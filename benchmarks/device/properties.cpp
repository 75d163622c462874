// SPDX-License-Identifier: Apache-2.0

#include "device/properties.hpp"

#include "device/error.hpp"
#include "device/footprint.hpp"

#include <assay/define.hpp>

namespace assay::device {
namespace {

int attribute(cudaDeviceAttr name) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, name, 0));
    return value;
}

/// "13.0"
std::string version_text(int version) { return joined(version / 1000, '.', version % 1000 / 10); }

/// Why the runtime sees no device, in words that say what would help.
std::string why_none(cudaError_t status) {
    std::string words = "not applicable: ";
    int driver = 0;
    int runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        words += "no NVIDIA driver is loaded";
    else if (status == cudaErrorInsufficientDriver)
        words += "the driver speaks CUDA " + version_text(driver) + ", this build needs " +
                 version_text(runtime);
    else
        words += std::string{"no CUDA device: "} + cudaGetErrorString(status);
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
            .shared_bytes_per_block = static_cast<std::int64_t>(all.sharedMemPerBlockOptin)};
}

Fit fits_any_device() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    return status != cudaSuccess || count == 0 ? Fit::no(why_none(status)) : Fit::yes();
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
    if (driver == 0) throw Error{"no NVIDIA driver is loaded"};
    context.setting("cuda.driver", version_text(driver));
    context.setting("cuda.runtime", version_text(runtime));
    if (const Fit any = fits_any_device(); !any) throw Error{any.why()};
}

} // namespace assay::device
