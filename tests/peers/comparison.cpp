// SPDX-License-Identifier: Apache-2.0
#include "comparison.hpp"

#include <utility>

namespace assay::peers {

bool Row::met() const {
    if (!not_measured.empty()) return true; // nothing was found wanting
    if (at_least && low.value_or(value) < *at_least) return false;
    return !at_most || high.value_or(value) <= *at_most;
}

Row row_of(std::string name, const Ratio& ratio, std::optional<double> at_least, std::string note) {
    return {.name = std::move(name),
            .value = ratio.value,
            .low = ratio.low,
            .high = ratio.high,
            .at_least = at_least,
            .note = std::move(note),
            .of = ratio};
}

} // namespace assay::peers
