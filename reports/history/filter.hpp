// SPDX-License-Identifier: Apache-2.0
//
// "library=openblas|onednn", "family!=md": which runs and series take part.

#pragma once

#include "base/result.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

class HistoryFilter {
public:
    /// Fails where an expression cannot be read or its key is neither known nor a parameter of any series.
    static Result<HistoryFilter> parse(const std::vector<std::string>& expressions,
                                       const Collection& collection);

    bool takes(const Collection& collection, const RunInfo& run) const;
    bool takes(const Series& series) const;

private:
    struct Condition {
        std::string key;
        std::vector<std::string> values;
        bool equal = true;
        bool of_run = false;
        bool holds(std::string_view value) const;
    };
    std::vector<Condition> conditions_;
};

} // namespace assay::report
