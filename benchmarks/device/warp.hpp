// SPDX-License-Identifier: Apache-2.0
//
// A warp: threads of a block that run in step and exchange registers. 32 on NVIDIA's devices, 64 on AMD's CDNA (which
// calls it a wavefront); a module is built for one of them (ASSAY_WARP_LANES).

#pragma once

#include <cstdint>
#include <type_traits>

namespace assay::device {

#ifdef ASSAY_WARP_LANES
inline constexpr unsigned warp_lanes = ASSAY_WARP_LANES;
#else
inline constexpr unsigned warp_lanes = 32;
#endif
static_assert(warp_lanes == 32 || warp_lanes == 64);

/// A bit for each lane.
using Lanes = std::conditional_t<warp_lanes == 64, std::uint64_t, std::uint32_t>;
inline constexpr Lanes every_lane = static_cast<Lanes>(~std::uint64_t{0});

} // namespace assay::device
