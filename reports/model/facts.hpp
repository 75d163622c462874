// SPDX-License-Identifier: Apache-2.0
//
// The parts of a report that are names and texts: the run, the machine, the five lines on top.

#pragma once

#include "model/view.hpp"

#include <string>
#include <vector>

namespace assay::report {

std::string title_of(const record::Run& run);
std::vector<Fact> run_facts(const record::Run& run, const std::string& source);
std::vector<Fact> machine_facts(const record::Machine& machine);
std::vector<Fact> software_facts(const record::Machine& machine);

/// Five lines for whoever reads no further. Needs sections, findings and missing.
std::vector<Fact> summarise(const record::Run& run, const Report& report);

} // namespace assay::report
