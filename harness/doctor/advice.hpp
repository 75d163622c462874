// SPDX-License-Identifier: Apache-2.0
//
// What to change on this machine, or to know about it, before believing its figures.

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"

#include <string>
#include <vector>

namespace assay::harness {

/// Sentences, most important first; empty when there is nothing to say.
std::vector<std::string> advise(const record::Machine& machine, const machine::Files& files);

} // namespace assay::harness
