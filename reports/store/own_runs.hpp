// SPDX-License-Identifier: Apache-2.0
//
// What a node that judges itself looks at: its own runs, in a folder that others may write to as well.

#pragma once

#include "base/result.hpp"
#include "store/collection.hpp"

#include <filesystem>

namespace assay::report {

/// Leaves the runs of the machine and campaign of the run in `file`, and the problems and unfinished runs in folders of
/// that machine. Fails where the file is no part of the collection, with the reason.
Result<void> keep_machine_of(Collection& collection, const std::filesystem::path& file);

} // namespace assay::report
