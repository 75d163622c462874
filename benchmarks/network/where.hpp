// SPDX-License-Identifier: Apache-2.0
//
// In whose memory messages begin and end. The module `ucx_cuda` is built from the sources of `ucx`, with the data in
// the memory of devices: a process for each, the first ones of its host. the library's own words and the signals
// between ranks stay in the host's memory.

#pragma once

#include <assay/benchmark.hpp>
#include <assay/machine.hpp>

#include <cstddef>
#include <cstdint>

namespace assay::network {

#ifdef ASSAY_UCX_CUDA
inline constexpr bool on_device = true;
#else
inline constexpr bool on_device = false;
#endif
inline constexpr const char* place_of_data = on_device ? "cuda" : "host";

enum class Where : std::uint8_t { host, device };
inline constexpr Where data_lies = on_device ? Where::device : Where::host;

/// Is there a device for each rank of a host, with so much memory, and does UCX know their memory?
Fit fit_place(std::int64_t ranks, std::int64_t bytes_per_rank, const Machine& machine);
/// Before UCX is opened: this rank's device becomes the current one. Throws if it has none. Collective.
void take_place(const Context& context);
/// Between the memory of a device and the host's; both wait.
void from_device(void* to, const void* from, std::size_t bytes);
void to_device(void* to, const void* from, std::size_t bytes);
/// Facts that the place adds to a module's.
void report_place(const Context& context);

} // namespace assay::network
