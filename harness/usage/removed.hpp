// SPDX-License-Identifier: Apache-2.0
//
// Verbs, options and values that earlier releases had: for one release the programs say what to use instead.

#pragma once

#include <string>
#include <vector>

namespace assay::usage {

/// The message about the first removed word of a command line; empty if it has none. `arguments` begin with the verb.
std::string about_removed(const std::vector<std::string>& arguments);

} // namespace assay::usage
