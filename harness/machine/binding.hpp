// SPDX-License-Identifier: Apache-2.0
//
// On which CPUs does the work run? Chosen once by the parent and obeyed by the workers, so that every
// replica of a case uses the same ones.

#pragma once

#include "base/result.hpp"
#include "machine/topology.hpp"

#include <string>
#include <vector>

namespace assay::machine {

/// Logical CPUs to bind `threads` threads to: one per physical core first, spread over what this
/// process may use, in topology order; second hardware threads only when cores run out. Fewer than
/// asked for when there are not as many; empty for threads < 1.
/// `near`: the address of a PCI device; where the kernel knows which CPUs are local to it, only those.
std::vector<int> choose_cpus(int threads, const std::string& near = {});
std::vector<int> choose_cpus(const Shape& shape, int threads);

/// Binds every thread that this process has, and so those it will start.
Result<void> bind_process(const std::vector<int>& cpus);

} // namespace assay::machine
