// SPDX-License-Identifier: Apache-2.0
//
// Makes one Collection of digests, whichever way they came: looks at each for what cannot be, finds runs
// that are there twice, numbers machines, series and settings anew.

#pragma once

#include "store/digest.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::report {

/// A file's digest before it is looked at.
struct Candidate {
    std::string label;
    std::size_t input = 0;
    std::filesystem::path file;
    double written = 0; ///< seconds since 1970
    RunDigest digest;
};

/// Digests that share pools.
struct Batch {
    Pools pools;
    std::vector<Candidate> candidates;
};

/// Do the digest's numbers exist in the pools?
bool refers_to(const RunDigest& digest, const Pools& pools);

/// `options.now`: seconds since 1970, from which on a run is in the future.
Collection gather(std::vector<Batch> batches, const CollectOptions& options);

} // namespace assay::report
