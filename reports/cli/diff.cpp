// SPDX-License-Identifier: Apache-2.0

#include "compare/diff.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/words.hpp"
#include "exchange/data.hpp"
#include "files.hpp"
#include "record/summary.hpp"
#include "store/collection.hpp"
#include "store/input.hpp"
#include "verbs.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::reports_cli {
namespace {

Result<compare::DiffSide> side_of(const store::Input& input, const char* label) {
    ASSAY_TRY(auto run, store::read_result(input.file));
    return compare::DiffSide{.label = input.label.empty() ? label : plain(input.label, 60),
                             .file = plain(input.file.string(), 200),
                             .run = std::move(run)};
}

/// A side without cases, or whose file takes no part, leaves the cases of the other one.
Result<void> compare_values(const Options& options, const std::vector<store::Input>& inputs,
                            compare::Diff& diff) {
    const auto& a = diff.a.run.cases;
    const auto& b = diff.b.run.cases;
    const auto leave = [&](compare::DiffGap gap) {
        for (const auto& c : a.empty() ? b : a)
            diff.not_compared[gap].push_back(plain(record::identity(c)));
    };
    if (a.empty() || b.empty()) {
        leave(compare::DiffGap::one_side);
        return {};
    }
    ASSAY_TRY(const auto collection,
              collect({"A=" + inputs[0].file.string(), "B=" + inputs[1].file.string()},
                      options.collecting));
    if (const auto comparison = compare::compare(collection))
        add_values(*comparison, diff);
    else
        leave(compare::DiffGap::left_out);
    for (const auto& problem : collection.problems)
        diff.left_out.push_back(document::say<text::words::labelled>(
            plain(problem.where), translated(plain(problem.reason))));
    return {};
}

} // namespace

Result<ExitCode> diff_nodes(const Options& options) {
    ASSAY_TRY(const auto inputs, store::find_inputs(options.inputs));
    std::error_code error;
    if (std::filesystem::equivalent(inputs[0].file, inputs[1].file, error))
        return fail(
            fmt::format("{} is on both sides; give two different runs", inputs[0].file.string()));
    ASSAY_TRY(auto a, side_of(inputs[0], "A"));
    ASSAY_TRY(auto b, side_of(inputs[1], "B"));
    auto diff = diff_machines(std::move(a), std::move(b));
    ASSAY_TRY(compare_values(options, inputs, diff));
    ASSAY_TRY(deliver(options, outputs_of(diff), inputs));
    if (!diff.differences.empty() || !diff.values.empty())
        return options.fail_on == "difference" ? ExitCode::failed : ExitCode::done;
    const bool both_measured = !diff.a.run.cases.empty() && !diff.b.run.cases.empty();
    return both_measured && diff.compared == 0 ? ExitCode::inconclusive : ExitCode::done;
}

} // namespace assay::reports_cli
