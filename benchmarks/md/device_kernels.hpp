// SPDX-License-Identifier: Apache-2.0
//
// A simulation's work on a device, queued on a stream.

#pragma once

#include "device/handles.hpp"
#include "device_liquid.hpp"
#include "reference_sum.hpp"

namespace assay::md {

/// Takes over positions and velocities by number, makes the list and computes the forces.
template <class T>
void queue_load(const LiquidArrays<T>& a, const Four<T>* position, const Four<T>* velocity,
                const device::Stream& stream);

/// Steps of velocity Verlet with their rebuilds.
template <class T>
void queue_steps(const LiquidArrays<T>& a, int steps, const device::Stream& stream);

template <class T>
void queue_forces(const LiquidArrays<T>& a, const device::Stream& stream);

/// What the force on every atom should be, in the order of the atoms.
template <class T>
void queue_reference(const LiquidArrays<T>& a, double edge, ForceReference* out,
                     const device::Stream& stream);

} // namespace assay::md
