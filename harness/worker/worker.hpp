// SPDX-License-Identifier: Apache-2.0
//
// `assay worker`: a process that loads modules and measures the cases its parent sends over a socket.
// It lives no longer than its parent, whatever the code it measures is doing.

#pragma once

namespace assay::harness {

/// The whole life of a worker: finds the parent by its environment (process/start.hpp) and returns the exit
/// code when the parent says stop. For the program's `worker` verb; not for people.
int worker_main();

} // namespace assay::harness
