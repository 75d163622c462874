// SPDX-License-Identifier: Apache-2.0
//
// Entries of the data sheets by what people call them: ids, names, types of instances, short names such as "L40S".

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "reference/hardware.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reference {

ASSAY_ENUM(Kind, instance, processor, accelerator, network_card)
inline constexpr std::array kinds{Kind::instance, Kind::processor, Kind::accelerator,
                                  Kind::network_card};

/// Refers to the hardware it is of.
struct CatalogEntry {
    Kind kind = Kind::instance;
    const Sheet* sheet = nullptr;
    const InstanceEntry* instance = nullptr;
    const HardwareEntry* accelerator = nullptr;
    const ProcessorEntry* processor = nullptr;
    const NetworkCardEntry* network_card = nullptr;
};
/// All of a kind, or of every kind, in the order of the files.
std::vector<CatalogEntry> entries_of(const Hardware& hardware, std::optional<Kind> kind = {});

/// Entries that a text may mean: the one with that id, name or type; otherwise all whose names have its words.
std::vector<CatalogEntry> entries_like(const Hardware& hardware, std::string_view text,
                                       std::optional<Kind> kind = {});
/// The only one; otherwise a message that lists what the text may mean.
Result<CatalogEntry> entry_named(const Hardware& hardware, std::string_view text,
                                 std::optional<Kind> kind = {});
/// "x (id), y (id) and 3 more".
std::string list_of(const std::vector<CatalogEntry>& entries);

/// The id of a provider by any of its names; an unknown text without case, blanks and hyphens.
std::string provider_id(const Hardware& hardware, std::string_view text);
/// By any name of the provider; null if not found.
const InstanceEntry* find_instance(const Hardware& hardware, std::string_view provider,
                                   std::string_view type);
/// By id; null if not found.
const HardwareEntry* find_accelerator(const Hardware& hardware, std::string_view id);
const ProcessorEntry* find_processor(const Hardware& hardware, std::string_view id);

} // namespace assay::reference
