// SPDX-License-Identifier: Apache-2.0
//
// What to change on this machine, or to know about it, before trusting its results.

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"

#include <string>
#include <vector>

namespace assay::harness {

/// Sentences, most important first; empty if there is no advice.
std::vector<std::string> advise(const record::Machine& machine, const machine::Files& files);

} // namespace assay::harness
