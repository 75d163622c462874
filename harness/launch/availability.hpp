// SPDX-License-Identifier: Apache-2.0
//
// Can a module be used here? Checked without loading it (list, plan: milliseconds), or by loading it in
// its own process (doctor), where it can do no harm.

#pragma once

#include "plan/manifest.hpp"
#include "record/model.hpp"

namespace assay::launch {

/// Why not, as far as files show: its library or its launcher is missing. Empty: it seems usable.
std::string why_unavailable(const plan::Manifest& module);

/// The result of loading a module.
struct ModuleState {
    std::string module;
    std::string problem;     ///< why it cannot be used; empty if it can
    record::NamedList facts; ///< library versions and choices
};

/// Loads each module in its own worker process and asks it for its facts.
std::vector<ModuleState> probe_modules(const plan::Catalogue& catalogue,
                                       const record::Machine& machine);

} // namespace assay::launch
