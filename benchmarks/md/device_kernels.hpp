// SPDX-License-Identifier: Apache-2.0
//
// A simulation's work on a device, queued on a stream.

#pragma once

#include "device/handles.hpp"
#include "device_liquid.hpp"
#include "reference_sum.hpp"

namespace assay::md {

template <class T>
struct LiquidWork {
    /// Takes over positions and velocities by number, makes the list and computes the forces.
    static void load(const LiquidArrays<T>& a, const Four<T>* position, const Four<T>* velocity,
                     const device::Stream& stream);
    /// Steps of velocity Verlet with their rebuilds.
    static void steps(const LiquidArrays<T>& a, int count, const device::Stream& stream);
    static void forces(const LiquidArrays<T>& a, const device::Stream& stream);
    /// What the force on every atom should be, in the order of the atoms.
    static void reference(const LiquidArrays<T>& a, double edge, ForceReference* out,
                          const device::Stream& stream);
};

} // namespace assay::md
