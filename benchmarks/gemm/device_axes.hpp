// SPDX-License-Identifier: Apache-2.0
//
// Parameters that products on devices share, whichever library makes them.

#pragma once

#include "device/clock.hpp"
#include "gemm/device_matrices.hpp"

#include <assay/axes.hpp>

namespace assay::gemm {

template <class Params>
consteval auto load_axis() {
    return choice("load",
                  "sustained: 2 s at load before the window, then batches of at least 250 ms; or "
                  "bursts of 20 ms with pauses to cool",
                  &Params::load,
                  {{"sustained", device::Load::sustained}, {"burst", device::Load::burst}},
                  {device::Load::sustained});
}
inline constexpr double sustained_load = 2; // s: the first 0.2 s are faster

template <class Params>
consteval auto caches_axis() {
    return choice("cache", "second-level cache before each call: kept (hot) or flushed (cold)",
                  &Params::caches, {{"hot", device::Caches::hot}, {"cold", device::Caches::cold}},
                  {device::Caches::hot});
}

template <class Params>
consteval auto data_axis() {
    return choice("data", "normal random numbers, or zeros, which run faster", &Params::data,
                  {{"normal", Data::normal}, {"zeros", Data::zeros}}, {Data::normal});
}

} // namespace assay::gemm
