// SPDX-License-Identifier: Apache-2.0

#include "files.hpp"
#include "history/document.hpp"
#include "store/collection.hpp"
#include "store/input.hpp"
#include "verbs.hpp"

#include <vector>

namespace assay::reports_cli {
Result<ExitCode> history(const Options& options) {
    ASSAY_TRY(const auto collection, collect(options.inputs, options.collecting));
    auto how = options.history;
    ASSAY_TRY(const auto since, since_of(options));
    how.since = since.value_or(how.since);
    ASSAY_TRY(const auto history, make_history(collection, how));
    ASSAY_TRY(deliver(options, outputs_of(history), inputs_of(collection.runs)));
    if (!is_comparable(history)) return ExitCode::inconclusive;
    return options.fail_on == "worse" && has_regression(history) ? ExitCode::failed
                                                                 : ExitCode::done;
}

} // namespace assay::reports_cli
