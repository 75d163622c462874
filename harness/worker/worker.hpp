// SPDX-License-Identifier: Apache-2.0
//
// `assay worker`: a process that loads modules and measures the cases its parent sends over a socket.
// It ends with its parent, whatever the code under test is doing.

#pragma once

namespace assay::worker {

/// The main function of a worker: finds the parent by its environment (process/start.hpp) and returns the exit
/// code when the parent sends stop. For the program's `worker` verb; not for people.
int worker_main();

} // namespace assay::worker
