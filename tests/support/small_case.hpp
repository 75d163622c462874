// SPDX-License-Identifier: Apache-2.0
//
// A measured case in few lines of JSON: products with three replicas of eight values.

#pragma once

#include "record/summary.hpp"
#include "support/sample_run.hpp"

#include <cstddef>
#include <utility>

namespace assay::test {

inline record::Case small_case() {
    auto c = sample_case(sample_gemm("openblas", "fp64", 4.2e-3), 1);
    for (int i = 0; i < 3; ++i)
        c.replicas[static_cast<std::size_t>(i)] = sample_replica(i, 4.2e-3, 1, 8);
    record::conclude(c, 3);
    return c;
}

} // namespace assay::test
