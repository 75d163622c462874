// SPDX-License-Identifier: Apache-2.0
//
// May a stream be held back, and how much is queued behind it? Pure: tested on the host.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace assay::device {

/// The variable of the environment that forbids holding a stream back, or "": where kernels run one at a
/// time, or launches return only when they are done, the one that waits would wait for ever.
/// ASSAY_HOLD_STREAMS=0 says so by hand; the others are CUDA's own and those that profilers and
/// compute-sanitizer give to what they start.
template <class GetEnv>
std::string_view forbids_holding(const GetEnv& get) {
    constexpr const char* by_hand = "ASSAY_HOLD_STREAMS";
    constexpr const char* blocking = "CUDA_LAUNCH_BLOCKING";
    constexpr std::array tools{
        "CUDA_INJECTION64_PATH",                  // any tool that is loaded with CUDA, nsys too
        "NSYS_PROFILING_SESSION_ID",              // Nsight Systems
        "NV_COMPUTE_PROFILER_PERFWORKS_DIR",      // Nsight Compute
        "NV_SANITIZER_INJECTION_PORT_BASE",       // compute-sanitizer
        "NV_SANITIZER_INJECTION_PORT_RANGE_BEGIN" // and older ones
    };
    const auto is_set = [&](const char* name) {
        const char* value = get(name);
        return value != nullptr && *value != '\0';
    };
    if (is_set(by_hand) && std::string_view{get(by_hand)} == "0") return by_hand;
    if (is_set(blocking) && std::string_view{get(blocking)} != "0") return blocking;
    for (const char* tool : tools)
        if (is_set(tool)) return tool;
    return {};
}

/// Operations behind a stream that is held back: the driver's queue takes about a thousand, then the host
/// waits, too.
inline constexpr int most_queued = 128;

constexpr std::uint64_t held_calls(int operations_per_call) {
    return static_cast<std::uint64_t>(std::max(1, most_queued / std::max(1, operations_per_call)));
}

/// May more calls follow while these run, so that the device never pauses? Where it takes longer for a call
/// than the host for queueing the next one.
constexpr bool stays_ahead(double seconds_per_call, int operations_per_call) {
    constexpr double queueing = 10e-6; // s for an operation: three times what it takes
    return seconds_per_call >= queueing * operations_per_call;
}

} // namespace assay::device
