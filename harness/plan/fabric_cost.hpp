// SPDX-License-Identifier: Apache-2.0
//
// What collective.fabric costs on so many hosts, and how much of them it covers: said before a thousand nodes wait for it.

#pragma once

#include "plan/plan.hpp"

#include <string>

namespace assay::harness {

/// A sentence; empty for every other benchmark, and without several hosts.
std::string fabric_cost(const PlannedCase& planned, const Job& job);

} // namespace assay::harness
