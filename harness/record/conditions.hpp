// SPDX-License-Identifier: Apache-2.0
//
// What a figure was measured under, beside its parameters: the size of the team, the path of its messages, the state
// of the device. Figures under other conditions answer other questions, so these are part of what identifies a
// series. One table for what is recorded and what comparisons keep apart.

#pragma once

#include "record/model.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace assay::record {

struct Condition {
    std::string_view name;
    /// Nothing where it was not recorded, or does not apply.
    std::optional<Value> (*of)(const Case&, const Machine&);
    /// The value that need not be said; empty where each is.
    std::string_view usual;
    /// A state that the machine may change to: a history goes on, and names it as a cause.
    bool is_state = false;
    /// The setting that it is read from, if any; benchmarks write it.
    std::string_view setting;
};
std::span<const Condition> condition_table();
const Condition* find_condition(std::string_view name);

/// Those that were recorded, in the order of the table.
NamedList conditions(const Case& c, const Machine& machine);

} // namespace assay::record
