// SPDX-License-Identifier: Apache-2.0
//
// The parts of a report that are names and texts: the run, the machine, its counters of errors.

#pragma once

#include "report/types.hpp"

#include <string>
#include <vector>

namespace assay::report {

std::string title_of(const record::Run& run);
std::vector<Fact> run_facts(const record::Run& run, const std::string& source);
std::vector<Fact> machine_facts(const record::Machine& machine);
std::vector<Fact> software_facts(const record::Machine& machine);

/// Counters of errors that are not zero, or changed.
std::vector<Fact> error_facts(const record::Run& run);

} // namespace assay::report
