// SPDX-License-Identifier: Apache-2.0
//
// The devices of a machine for `assay doctor`: facts, state and problems.

#pragma once

#include "json/json.hpp"
#include "machine/devices.hpp"

#include <string>
#include <vector>

namespace assay::cli {

/// A name and a text for each line; further lines of a device have an empty name.
struct DeviceLine {
    std::string name;
    std::string text;
};
std::vector<DeviceLine> device_lines(const machine::DeviceStates& states);
/// {"found": [...], "problems": [...]}
json::Value devices_json(const machine::DeviceStates& states);

} // namespace assay::cli
