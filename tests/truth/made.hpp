// SPDX-License-Identifier: Apache-2.0
//
// What simulations share: cases as a run would have recorded them, and what the report's own code says of two sides.

#pragma once

#include "compare/comparison.hpp"
#include "record/noise.hpp"
#include "support/collection_maker.hpp"

#include <cstddef>
#include <vector>

namespace assay::truth {

struct MadeReplica {
    double value = 0;
    bool disturbed = false; ///< as counters of its window say
};

/// By the record's own rules; of the case are its work, its place and what noise is expected of it.
void observe(test::CollectionMaker& maker, std::uint32_t run, std::size_t number, record::Case c,
             const std::vector<MadeReplica>& replicas);
/// A case of a kind of work on a host or device: replicas that a run wants, and what noise it expects.
record::Case case_of(std::string_view work, record::NoisePlace place, int replicas);

bool is_called(const compare::Contrast& contrast);
/// Differences reported for the second side, by the numbers of the cases.
std::vector<compare::Contrast> contrasts_of(const store::Collection& collection, std::size_t cases,
                                            const compare::CompareOptions& options = {});

} // namespace assay::truth
