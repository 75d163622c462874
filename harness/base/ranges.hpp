// SPDX-License-Identifier: Apache-2.0
//
// Ranges of names as Slurm, ClusterShell and pdsh write them.

#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// "node[01-02,7]:2" makes "node01:2", "node02:2", "node7:2"; several brackets make all combinations, the last one
/// changing first. Fails where there are more than `most`.
Result<std::vector<std::string>> expand_ranges(std::string_view text, std::size_t most);

/// The first of `ends` that is not within brackets; npos where there is none.
std::size_t find_outside_brackets(std::string_view text, std::string_view ends);

} // namespace assay
