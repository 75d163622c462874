// SPDX-License-Identifier: Apache-2.0
//
// Cases of replicas, and what they were concluded from.

#pragma once

#include "record/summary.hpp"

#include <vector>

namespace assay::record {

/// One for each of these times per call, all of whose batches took it.
inline void add_replicas(record::Case& c, const std::vector<double>& seconds) {
    for (const double s : seconds)
        c.replicas.push_back({.index = static_cast<int>(c.replicas.size()),
                              .status = record::Status::ok,
                              .batches = 2,
                              .calls = 1,
                              .values = {s, s},
                              .seconds = s,
                              .low = s,
                              .high = s});
}

inline double value_of(const record::Case& c) { return c.metrics.at(0).value.value_or(0); }

inline std::vector<int> counted_indexes(const record::Case& c) {
    std::vector<int> indexes;
    for (const record::Replica* replica : counted(c)) indexes.push_back(replica->index);
    return indexes;
}

} // namespace assay::record
