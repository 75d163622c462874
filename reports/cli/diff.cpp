// SPDX-License-Identifier: Apache-2.0

#include "diff/diff.hpp"

#include "diff/document.hpp"
#include "export/diff_data.hpp"
#include "files.hpp"
#include "report/input.hpp"
#include "report/text.hpp"
#include "store/collection.hpp"
#include "verbs.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

Result<DiffSide> side_of(const Input& input, const char* label) {
    auto run = read_result(input.file);
    if (!run) return tl::unexpected{run.error()};
    return DiffSide{.label = input.label.empty() ? label : plain(input.label, 60),
                    .file = plain(input.file.string(), 200),
                    .run = plain(std::move(*run))};
}

/// None where one of them has no cases, or nothing in common with the other.
Result<void> compare_values(const Options& options, const std::vector<Input>& inputs, Diff& diff) {
    if (diff.a.run.cases.empty() || diff.b.run.cases.empty()) return {};
    const auto collection = collect(
        {"A=" + inputs[0].file.string(), "B=" + inputs[1].file.string()}, options.collecting);
    if (!collection) return tl::unexpected{collection.error()};
    if (const auto comparison = compare(*collection)) add_values(*comparison, diff);
    return {};
}

} // namespace

Result<ExitCode> diff_nodes(const Options& options) {
    const auto inputs = find_inputs(options.inputs);
    if (!inputs) return tl::unexpected{inputs.error()};
    std::error_code error;
    if (std::filesystem::equivalent((*inputs)[0].file, (*inputs)[1].file, error))
        return fail(fmt::format("{} is on both sides; give the runs of two nodes, or of one at two "
                                "times",
                                (*inputs)[0].file.string()));
    auto a = side_of((*inputs)[0], "A");
    if (!a) return tl::unexpected{a.error()};
    auto b = side_of((*inputs)[1], "B");
    if (!b) return tl::unexpected{b.error()};
    auto diff = diff_machines(std::move(*a), std::move(*b));
    if (auto done = compare_values(options, *inputs, diff); !done)
        return tl::unexpected{done.error()};
    const Outputs outputs{.documents = [&] { return std::vector{make_document(diff)}; },
                          .json = [&] { return to_json(diff); },
                          .csv = {}};
    if (auto done = deliver(options, outputs, *inputs); !done) return tl::unexpected{done.error()};
    const bool differs = !diff.differences.empty() || !diff.values.empty();
    return options.fail_on == "difference" && differs ? ExitCode::failed : ExitCode::done;
}

} // namespace assay::report
