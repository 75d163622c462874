// SPDX-License-Identifier: Apache-2.0
//
// What earlier runs of this machine say about the noise of a case, instead of what is usual for its kind.

#pragma once

#include "plan/plan.hpp"

#include <filesystem>
#include <span>

namespace assay::harness {

/// `runs`: folders, newest first, of which the newest thirty with a result are read. Cases that ten of them measured,
/// by the same version of the benchmark, expect the noise these show (stats::own_noise), with the source "history".
void expect_own_noise(Plan& plan, std::span<const std::filesystem::path> runs,
                      const record::Machine& machine);

} // namespace assay::harness
