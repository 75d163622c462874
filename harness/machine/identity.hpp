// SPDX-License-Identifier: Apache-2.0
//
// A name for a machine that says nothing about its owner: the same machine has the same id on every
// run, two machines have two, and nobody gets from the id to /etc/machine-id. Nothing that comes and
// goes (memory in use, CPUs taken offline, a lost accelerator, limits, the kernel) may enter.

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"

#include <string>

namespace assay::machine {

/// Sixteen hexadecimal digits. Reads of `machine` what cannot change without making it another
/// machine; those members must be filled in.
std::string identity(const Files& files, const record::Machine& machine);

} // namespace assay::machine
