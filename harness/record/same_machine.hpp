// SPDX-License-Identifier: Apache-2.0
//
// Which ids are of one machine: an id changes when more of the machine can be read (as root) than before, and its older
// ids stay as aliases.

#pragma once

#include "record/model.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

/// Is this its id, or one of its aliases?
bool is_id_of(const Machine& machine, std::string_view id);

/// The id that each of these machines goes by, by its own id: that of the machine that has it as an alias, if there is
/// exactly one. An id that several have (machines from one image) stays for itself.
std::map<std::string, std::string> common_ids(std::span<const Machine> machines);

/// The parts of `now` that were not in `before`, or are others: "device 0000:65:00.0". None if the two cannot be
/// compared.
std::vector<std::string> changed_parts(const Machine& before, const Machine& now);

} // namespace assay::record
