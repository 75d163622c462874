// SPDX-License-Identifier: Apache-2.0
//
// Digests of result files, read by as many threads as there are cores.

#pragma once

#include "store/digest.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::report {

struct Loaded {
    std::optional<RunDigest> digest; ///< nothing where the file cannot be read
    std::string problem;
    bool is_stale = false; ///< that is the problem
};

/// One for each file, in their order.
std::vector<Loaded> load(std::span<const std::filesystem::path> files, const MetricChoice& choice,
                         Pools& pools);

} // namespace assay::report
