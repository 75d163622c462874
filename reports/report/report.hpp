// SPDX-License-Identifier: Apache-2.0
//
// The way in: what a run means.

#pragma once

#include "record/model.hpp"
#include "report/types.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace assay::report {

struct ReportOptions {
    std::string label;
    std::string source;
    std::optional<double> p99{}; ///< seconds that all but one in a hundred calls may take
    std::size_t strip_rows =
        100; ///< rows that keep their batch values: 100 x 600 dots stay printable
    std::size_t listed_checks = 200; ///< passed checks listed; those that failed always are
};
Report make_report(const record::Run& run, const ReportOptions& options = {});

} // namespace assay::report
