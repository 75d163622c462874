// SPDX-License-Identifier: Apache-2.0
//
// Asks the judge of --check which cases are decided, so that these are not measured any more. The rules are the judge's
// alone.

#pragma once

#include "run/active_run.hpp"
#include "run/run_folder.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace assay::run {

class Decided {
public:
    explicit Decided(const RunOptions& options) : options_{options} {}

    /// Judgement on the results so far; asked anew when a case has the number of replicas that the judge looks at. Null
    /// without a judge, or where it failed.
    const Judgement* by_now(const ActiveRun& active);
    const Judgement* last() const { return judgement_ ? &*judgement_ : nullptr; }

private:
    const RunOptions& options_;
    std::vector<std::size_t> asked_with_; ///< replicas of each case
    std::optional<Judgement> judgement_;
};

} // namespace assay::run
