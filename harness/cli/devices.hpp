// SPDX-License-Identifier: Apache-2.0
//
// The devices of a machine as `assay doctor` shows them: what they are, how they are, what is wrong.

#pragma once

#include "json/json.hpp"
#include "machine/devices.hpp"

#include <string>
#include <vector>

namespace assay::cli {

/// A name and a text, line by line; names of lines that go on with a device are empty.
struct DeviceLine {
    std::string name;
    std::string text;
};
std::vector<DeviceLine> device_lines(const machine::DeviceStates& states);
/// {"found": [...], "problems": [...]}
json::Value devices_json(const machine::DeviceStates& states);

} // namespace assay::cli
