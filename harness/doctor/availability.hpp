// SPDX-License-Identifier: Apache-2.0
//
// Can a module be used here? Without loading it (list, plan: milliseconds), or by loading it in a
// process of its own (doctor), where it may do whatever it likes.

#pragma once

#include "record/model.hpp"
#include "registry/catalogue.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

/// Why not, as far as files can tell: its library or its launcher is missing. Empty: it seems to be.
std::string why_unavailable(const Manifest& module);

/// What a module said when it was loaded.
struct ModuleState {
    std::string module;
    std::string problem;     ///< why it cannot be used; empty when it can
    record::NamedList facts; ///< library versions and choices
};

/// Loads each module in a worker process of its own and asks it for its facts.
std::vector<ModuleState> probe_modules(const Catalogue& catalogue, const record::Machine& machine);

} // namespace assay::harness
