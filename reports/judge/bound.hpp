// SPDX-License-Identifier: Apache-2.0
//
// What a limit asks of one observation: an amount, or a share of a data sheet's bound, of siblings, of another limit.

#pragma once

#include "judge/evidence.hpp"
#include "judge/limits.hpp"
#include "store/collection.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace assay::report {

/// Of one node.
struct BoundBasis {
    const Collection& collection;
    const Limits& limits;
    std::span<const Item> items;
};
/// Nothing where what it is a share of is not known.
std::optional<double> bound_of_limit(const BoundBasis& basis, const Limit& limit, const Item& item,
                                     bool at_least, const Observation& seen);

/// Does the bound of this benchmark's series hold for another one: at the same place, and with the same value of each
/// parameter that both have?
bool bounds(const Series& series, std::string_view benchmark, const Series& other);

} // namespace assay::report
