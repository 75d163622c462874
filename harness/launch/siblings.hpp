// SPDX-License-Identifier: Apache-2.0
//
// Several workers measure at once: they begin together, and each that has measured goes on working until all have. One
// that dies, hangs or gives up is waited for no more.

#pragma once

#include "launch/session.hpp"
#include "process/message.hpp"

#include <vector>

namespace assay::harness {

struct Sibling {
    Session* session = nullptr;
    message::Measure request; ///< with its role
};

/// An answer for each, as Session::measure() gives it.
std::vector<message::Result> measure_together(const std::vector<Sibling>& siblings,
                                              const Watch& watch);

} // namespace assay::harness
