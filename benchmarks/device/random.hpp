// SPDX-License-Identifier: Apache-2.0
//
// The random data of assay/random.hpp, made on the device: element i is the same as on a host.

#pragma once

#include "device/handles.hpp"

#include <cstdint>

namespace assay::device {

void fill_uniform(const Stream& stream, const Buffer<double>& to, std::uint64_t seed, double low,
                  double high);
void fill_uniform(const Stream& stream, const Buffer<float>& to, std::uint64_t seed, float low,
                  float high);

} // namespace assay::device
