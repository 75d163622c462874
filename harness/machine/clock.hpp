// SPDX-License-Identifier: Apache-2.0
//
// The actual core clock, measured: the kernel's files show the nominal clock in a virtual machine and an
// older value everywhere else.

#pragma once

namespace assay::machine {

/// The clock of the core this thread runs on, in hertz, from a chain of dependent additions (one per
/// cycle on every core we know); takes about 2 ms. The thread stays on that core meanwhile.
double measure_core_clock();

/// The same, repeated until two agree within 0.5% or ten were made: from an idle core, which takes
/// some milliseconds to reach its clock.
double measure_steady_core_clock();

} // namespace assay::machine
