// SPDX-License-Identifier: Apache-2.0
//
// Processes that take turns: started as a worker is, and compared per floating point operation, so that
// different amounts of work compare.

#pragma once

#include "child.hpp"
#include "comparison.hpp"

#include <memory>
#include <string>
#include <vector>

namespace assay::peers {

using ChildPtr = std::unique_ptr<Child>;

/// The program and its arguments, in the environment that the runner gives a worker with so many
/// threads. Throws where it was not built.
ChildPtr start_child(const Options& options, const std::vector<std::string>& arguments,
                     const std::string& core_type = {});

/// A case of one of our modules by peer_module, on the threads of the command.
ChildPtr start_ours(const Options& options, const std::string& library,
                    std::vector<std::string> what, const std::string& core_type = {});

/// The peer's time over ours, for one floating point operation.
Ratio compare_children(Child& ours, Child& peer, const Options& options);

/// A job of Open MPI's on this host. `what`: more options, the program and its arguments.
Spawned start_job(int ranks, const std::vector<std::string>& what);

/// "ours 480.1 GFLOP/s (the kernel)"
std::string rate_words(const char* who, double seconds_per_flop, const std::string& kernel);

} // namespace assay::peers
