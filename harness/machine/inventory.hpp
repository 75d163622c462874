// SPDX-License-Identifier: Apache-2.0
//
// What is this machine? Everything is read from hwloc, /proc, /sys and DMI; nothing is asked of the
// network. What cannot be found out is left empty, and never keeps the rest from being found.

#pragma once

#include "record/model.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::machine {

struct Options {
    bool hostname = false;
    std::filesystem::path root = "/"; ///< tests put a fake /proc and /sys here
};
record::Machine inspect(const Options& options = {});

/// Facts by name, as assay/machine.hpp lists them. Unknown: NaN, "".
double fact(const record::Machine& machine, std::string_view name);
std::string_view fact_text(const record::Machine& machine, std::string_view name);

/// The clock of the core this thread runs on, in hertz, from a chain of dependent additions (one per
/// cycle on every core we know); takes about 2 ms.
double measure_core_clock();

/// Logical CPUs to bind `threads` threads to: one per physical core first, spread over what this
/// process may use, in topology order; second hardware threads only when cores run out.
std::vector<int> choose_cpus(int threads);

} // namespace assay::machine
