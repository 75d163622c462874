// SPDX-License-Identifier: Apache-2.0
//
// A run as Google Benchmark writes its own (JSON), so that its tools/compare.py reads ours: each replica
// is a repetition, followed by the aggregates mean, median and stddev. Times are wall time; the
// processor time that format asks for is not measured and given as the same. A case without a figure
// is an entry with error_occurred and its reason.

#pragma once

#include "record/model.hpp"

#include <string>

namespace assay::report {

std::string to_gbench(const record::Run& run);

/// "gemm.square[openblas]/precision:fp64/size:1024/threads:all".
std::string gbench_name(const record::Case& c);

} // namespace assay::report
