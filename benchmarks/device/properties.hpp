// SPDX-License-Identifier: Apache-2.0
//
// The device that this process measures. The program shows a worker one device alone (several only to
// benchmarks of links), so it is always number 0 here.

#pragma once

#include <assay/benchmark.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::device {

/// The name of the device that is the CPU: tests execute device code there (tests/device_on_cpu). Its times say
/// nothing, and results made with it are marked (mark()).
inline constexpr std::string_view name_on_cpu = "CPU as a device (tests of assay)";

/// Kind of the places that the benchmarks of this module run on.
#ifdef ASSAY_HIP
inline constexpr const char* place_kind = "hip";
#else
inline constexpr const char* place_kind = "cuda";
#endif

struct Properties {
    std::string name;
    int capability = 0; ///< 90 for compute capability 9.0
    int multiprocessors = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t memory_available = 0; ///< at this moment
    std::int64_t l2_bytes = 0;
    int threads_per_multiprocessor = 0;
    std::int64_t shared_bytes_per_block = 0; ///< the most that a block may ask for

    bool is_cpu() const { return name == name_on_cpu; }
    /// How often a call repeats its work: `few` times on the CPU, where only results count.
    template <class Count>
    Count times(Count usual, Count few) const {
        return is_cpu() ? few : usual;
    }
};

/// Throws device::Error if the machine has no device.
Properties properties();

/// A number that the driver may know of device 0; `unknown` where an older one does not.
int attribute(cudaDeviceAttr name, int unknown);

/// Is there a device at all? Asks the driver and takes nothing of any device, which a process that
/// shares devices with others must not do before it has its own.
Fit fits_any_device();

/// Can a benchmark that needs so many bytes of the device's memory, and at least this compute
/// capability, run here? The answer names the reason: no driver, too old a driver, too little memory.
Fit fits_device(std::int64_t bytes, int capability = 0);

/// Bytes over all arrays of a benchmark. beyond_cache: 1 GiB for each array, or four times the second
/// level cache, whichever is more; less where the memory does not allow it.
std::int64_t footprint(Symbolic wanted, std::int64_t arrays, const Properties& properties);

/// A footprint in bytes, and `least` where it is a symbol: what fit() asks for.
constexpr std::int64_t footprint_or(Symbolic wanted, std::int64_t least) {
    return wanted.symbol == Symbol::none ? wanted.number : least;
}
inline Fit fits_footprint(Symbolic wanted, std::int64_t least) {
    return fits_device(footprint_or(wanted, least));
}
/// Records it, for people and for the roofline bound.
template <class Bytes>
void describe_footprint(Bytes bytes, const Context& context) {
    context.setting("footprint", bytes);
    context.tell({.footprint_bytes = static_cast<double>(bytes)});
}

/// Records with a result that the device is the CPU, where it is: `compare` takes such results only among themselves.
/// Every clock of a device calls it in describe().
void mark(const Context& context);

/// Driver and runtime, for a module's facts. Throws where there is no device.
void report_versions(const Context& context);

} // namespace assay::device
