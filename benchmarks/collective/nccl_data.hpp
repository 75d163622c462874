// SPDX-License-Identifier: Apache-2.0
//
// Makes and checks the numbers of nccl_values.hpp on the current device.

#pragma once

#include "collective/nccl_values.hpp"
#include "device/handles.hpp"

#include <assay/benchmark.hpp>

namespace assay::collective {

/// What rank `rank` sends.
void fill_values(const device::Stream& stream, void* to, Element element, std::uint64_t count,
                 int rank, std::int64_t largest);
Check check_values(const device::Stream& stream, const void* from, Element element,
                   std::uint64_t count, const Expected& expected, double bound);
/// One element, by one step.
void spoil_value(const device::Stream& stream, void* at, Element element, std::uint64_t index,
                 double step);

} // namespace assay::collective
