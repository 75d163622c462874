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

namespace assay::judge {

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
bool is_for(const Limit& limit, const decide::Series& series);

/// Words like record::words_of, but the first device has its number, too: "cuda:0".
std::string device_part(std::string place);
/// The part of the node that a series is of; see Check::part.
std::string part_of(const decide::Series& series);
/// The part that an unmeasured limit is for: the device where only one can be meant.
std::string part_of(const Limit& limit, const record::Machine& machine);
/// May a case that the limit is for be measured on this machine? A limit of a library for devices needs one of them.
bool has_place_for(const Limit& limit, const record::Machine& found);
/// Both answer one question about what they are both for, and this one more closely: it names the device, or more of
/// the case. Then the other says nothing more.
bool is_closer(const Limit& limit, const Limit& other);
/// Is every case that `other` is for on this machine one that `limit` answers for more closely?
bool replaces(const Limit& limit, const Limit& other, const record::Machine& found);

/// The device that a series was measured on; null for the host, and for a device that no driver described.
const record::Device* device_of(const record::Machine& machine, const decide::Series& series);
/// The patterns of a place: "cuda*"; "*" where the limit has none.
std::string places_of(const Limit& limit);

} // namespace assay::judge
