// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies between global and shared memory, which happen by themselves after they were asked for. `sequence`: as
// late as possible, when nobody can go on, the newest first; `reversed`: at once; random: both.

#pragma once

namespace assay::device_on_cpu {

/// Does one of those that were asked for; false where there is none.
bool finish_a_copy();
/// At the end of a block: was one left?
bool forget_copies();

} // namespace assay::device_on_cpu
