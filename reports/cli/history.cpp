// SPDX-License-Identifier: Apache-2.0

#include "document/dates.hpp"
#include "document/text.hpp"
#include "files.hpp"
#include "history/document.hpp"
#include "history/history_data.hpp"
#include "store/collection.hpp"
#include "store/input.hpp"
#include "verbs.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

namespace assay::report {
namespace {

Result<History> history_of(const Options& options, const Collection& collection) {
    auto how = options.history;
    if (!options.since.empty()) {
        const auto since = seconds_of_date(options.since);
        if (!since)
            return fail(
                fmt::format("--since \"{}\" is no date; one is 2026-01-31", plain(options.since)));
        how.since = *since;
    }
    return make_history(collection, how);
}

std::vector<Input> inputs_of(const Collection& collection) {
    std::vector<Input> inputs;
    for (const auto& run : collection.runs) inputs.push_back({.label = "", .file = run.file});
    return inputs;
}

} // namespace

Result<ExitCode> history(const Options& options) {
    ASSAY_TRY(const auto collection, collect(options.inputs, options.collecting));
    ASSAY_TRY(const auto history, history_of(options, collection));
    const Outputs outputs{.documents = [&] { return std::vector{make_document(history)}; },
                          .json = [&] { return to_json(history); },
                          .csv = [&] { return to_csv(history); }};
    ASSAY_TRY(deliver(options, outputs, inputs_of(collection)));
    if (!is_comparable(history)) return ExitCode::inconclusive;
    return options.fail_on == "worse" && has_regression(history) ? ExitCode::failed
                                                                 : ExitCode::done;
}

} // namespace assay::report
