// SPDX-License-Identifier: Apache-2.0
//
// Does a transformer fit into the memory of devices, to train it or to serve it? Parameters, gradients and optimiser by
// ZeRO stage, activations, the cache of keys and values; each as a line with its formula.

#pragma once

#include "base/result.hpp"
#include "cost/settings.hpp"
#include "datasheet/hardware.hpp"
#include "document/document.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::report {

/// Meanings: capacity_line.json of language/texts.
std::span<const Setting> capacity_settings();

struct Holder {
    std::string device;
    double memory_bytes = 0;
    double share = 0;         ///< of the memory that may be used
    double least_devices = 1; ///< that hold one copy of all of it, however it is divided
};
struct Capacity {
    bool training = false;
    Calculation lines; ///< "device_bytes" is the answer, "copy_bytes" that of one copy, undivided
    std::vector<Holder> holders; ///< the catalogue, the smallest memory first
};
/// Fails where heads or layers do not divide.
Result<Capacity> capacity_of(const Given& given, bool training,
                             const datasheet::Hardware& hardware);

document::Document make_document(const Capacity& capacity, bool explain);
std::string to_json(const Capacity& capacity);

} // namespace assay::report
