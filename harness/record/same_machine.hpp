// SPDX-License-Identifier: Apache-2.0
//
// Which records are of one machine. Strong facts decide: the id of the cloud's instance, the firmware's UUID, the
// serial number of the board. Where none is known, a name (--node) joins runs of one campaign, and whole devices tell
// apart what /etc/machine-id or equal hardware would join: containers, tenants and clones of one image. An id changes
// when more of the machine can be read (as root) than before; its older ids stay aliases while no other machine has
// them.

#pragma once

#include "record/model.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

/// The part that this device is, or belongs to (MIG): the UUID of the whole device. Empty where that is unknown: a
/// vGPU, a redacted record.
std::string part_id(const Device& device);

/// Is a machine with an id by this fact one machine for certain?
bool is_strong(std::string_view by);

/// The tag that names the node of a run.
inline constexpr std::string_view node_tag = "node";
/// People's name for the node: by its tag, else by --node. Empty where no name is given, or it is redacted.
std::string node_name(const Machine& machine, const NamedList& tags = {});

/// One machine as runs of one campaign recorded it.
struct Sighting {
    Machine* machine = nullptr;
    std::string campaign;
    std::string node; ///< node_name()
};
/// Gives machines that are one the same id, others different ones, whatever the order. Aliases are left where they name
/// one of these machines only.
void resolve_ids(std::span<const Sighting> sightings);

/// The id of this record by itself: records of older versions may hold one that other machines share.
std::string own_id(Machine machine);

/// Is this its id, or one of its aliases?
bool is_id_of(const Machine& machine, std::string_view id);

/// Are these runs of one machine, as far as they tell?
bool is_same_machine(const Run& a, const Run& b);

/// The parts of `now` that were not in `before`, or are others: "device 0000:65:00.0". None if the two cannot be
/// compared.
std::vector<std::string> changed_parts(const Machine& before, const Machine& now);

} // namespace assay::record
