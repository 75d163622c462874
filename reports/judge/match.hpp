// SPDX-License-Identifier: Apache-2.0
//
// For which machines and cases a limit is.

#pragma once

#include "judge/limits.hpp"
#include "record/model.hpp"
#include "store/collection.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// The pattern of a key; empty where the selector has none.
std::string pattern_of(const Selector& selector, std::string_view key);
/// "a" and "b*" of "a|b*".
std::vector<std::string> alternatives(std::string_view patterns);
/// Is there a text that both admit, as far as one of them is spelt out?
bool overlap(const std::string& a, const std::string& b);

/// Is the limit (or the expectation) for this machine? Patterns of devices match where one of its devices does.
bool is_for(const Selector& machine, const record::Machine& found);
/// Is it for this device of the machine? Only the patterns of devices are looked at.
bool is_for_device(const Selector& machine, const record::Machine& found,
                   const record::Device& device);
/// Is the limit for this series? A parameter that the series does not have matches nothing.
bool is_for(const Limit& limit, const Series& series);

/// The device that a series was measured on; null for the host, and for a device that no driver described.
const record::Device* device_of(const record::Machine& machine, const Series& series);
/// The patterns of a place: "cuda*"; "*" where the limit has none.
std::string places_of(const Limit& limit);

} // namespace assay::report
