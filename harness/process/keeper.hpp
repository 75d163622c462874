// SPDX-License-Identifier: Apache-2.0
//
// A process between the parent and a program. Nothing runs in a parent that is killed, and what a program has
// detached from itself would go on; the keeper is told of the parent's end and ends all of it.

#pragma once

#include <sys/types.h>

#include <csignal>

namespace assay::harness {

/// What the kernel sends the keeper when the parent ends.
inline constexpr int keeper_signal = SIGTERM;

/// In a fork()ed process that adopts orphans and has blocked all signals: waits for the end of its child or for its
/// signal, ends all that is left, and ends as the child did. `end_group`: ends the child's control group; -1: none.
[[noreturn]] void keep(pid_t child, int end_group);

} // namespace assay::harness
