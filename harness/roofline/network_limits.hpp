// SPDX-License-Identifier: Apache-2.0
//
// What a network between two machines can carry, for cases whose settings name the devices that their
// messages went through. This file knows no library and no benchmark.
//
// Asked on the machine where the case ran, by its worker: the one that plans and reports may be another.

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"
#include "roofline/device_limits.hpp"

namespace assay::harness {

/// Where there is a setting `network_devices` ("mlx5_0:1, mlx5_1:1"), adds `network_bytes_per_second`, the sum of
/// their rates in one direction, and `network_rate_source`, or why there is no rate. Nothing for "memory".
void note_network_rate(record::NamedList& settings, const machine::Files& files = machine::Files{});

/// Of a bandwidth between two processes on two machines, from these settings.
DeviceLimits network_limits(const record::Case& c);

} // namespace assay::harness
