// SPDX-License-Identifier: Apache-2.0
//
// A run that never happened, with one of everything a report must show; the same on every machine.

#pragma once

#include "record/model.hpp"

#include <cstddef>

namespace assay::test {

record::Run golden_run();

/// `count` measured cases of a few families, for speed and size.
record::Run large_run(std::size_t count);

} // namespace assay::test
