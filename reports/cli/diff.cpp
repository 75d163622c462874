// SPDX-License-Identifier: Apache-2.0

#include "compare/diff.hpp"

#include "document/text.hpp"
#include "exchange/data.hpp"
#include "files.hpp"
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

/// None where one of them has no cases, or nothing in common with the other.
Result<void> compare_values(const Options& options, const std::vector<store::Input>& inputs,
                            compare::Diff& diff) {
    if (diff.a.run.cases.empty() || diff.b.run.cases.empty()) return {};
    ASSAY_TRY(const auto collection,
              collect({"A=" + inputs[0].file.string(), "B=" + inputs[1].file.string()},
                      options.collecting));
    if (const auto comparison = compare::compare(collection)) add_values(*comparison, diff);
    return {};
}

} // namespace

Result<ExitCode> diff_nodes(const Options& options) {
    ASSAY_TRY(const auto inputs, store::find_inputs(options.inputs));
    std::error_code error;
    if (std::filesystem::equivalent(inputs[0].file, inputs[1].file, error))
        return fail(fmt::format("{} is on both sides; give the runs of two nodes, or of one at two "
                                "times",
                                inputs[0].file.string()));
    ASSAY_TRY(auto a, side_of(inputs[0], "A"));
    ASSAY_TRY(auto b, side_of(inputs[1], "B"));
    auto diff = diff_machines(std::move(a), std::move(b));
    ASSAY_TRY(compare_values(options, inputs, diff));
    ASSAY_TRY(deliver(options, outputs_of(diff), inputs));
    const bool differs = !diff.differences.empty() || !diff.values.empty();
    return options.fail_on == "difference" && differs ? ExitCode::failed : ExitCode::done;
}

} // namespace assay::reports_cli
