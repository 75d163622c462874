// SPDX-License-Identifier: Apache-2.0
//
// One row per case and metric, for spreadsheets and data frames: RFC 4180, one header row, lines end in
// CRLF. Numbers are SI base units in full precision. Text cells that a spreadsheet would run as a
// formula begin with an apostrophe.
//
// Columns, in order:
//   run suite started machine cpu_model provider instance      where and when
//   benchmark version place library parameters settings        what; lists as name=value name=value
//   status reason                                              how the case ended
//   metric unit higher_is_better value low high interval_scope the figure and its 95% interval
//   median min p95 count                                       over the kept batch values
//   p99                                                        of single calls
//   ceiling ceiling_kind ceiling_source                        on the headline's row only
//   verified error bound                                       the check of the result
// A case without figures (skipped, incorrect, failed, ...) has one row with an empty metric.

#pragma once

#include "record/model.hpp"

#include <string>

namespace assay::report {

std::string to_csv(const record::Run& run);

} // namespace assay::report
