// SPDX-License-Identifier: Apache-2.0
//
// Makes one Collection of digests: looks at each for what cannot be, finds runs that are there twice, numbers machines,
// series and settings anew.

#pragma once

#include "store/digest.hpp"

#include <cstddef>
#include <vector>

namespace assay::report {

/// A file's digest before it is looked at.
struct Candidate {
    std::size_t input = 0; ///< which of the arguments it came by
    RunDigest digest;
};

/// `options.now`: seconds since 1970, from which on a run is in the future.
Collection gather(std::vector<Candidate> candidates, Pools pools, const CollectOptions& options);

} // namespace assay::report
