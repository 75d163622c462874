// SPDX-License-Identifier: Apache-2.0

#include "compare/comparison.hpp"
#include "compare/words.hpp"
#include "exchange/data.hpp"
#include "files.hpp"
#include "store/collection.hpp"
#include "store/input.hpp"
#include "verbs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

namespace assay::reports_cli {
namespace {

namespace fs = std::filesystem;

bool has_label(const std::string& input) {
    const auto parts = store::split_label(input);
    return parts && !parts->label.empty();
}

/// No output may replace a result that it was made from.
std::vector<store::Input> inputs_of(const compare::Comparison& comparison) {
    std::vector<store::Input> inputs;
    for (const auto& side : comparison.sides)
        for (const auto& file : side.files) inputs.push_back({.label = "", .file = file});
    return inputs;
}

/// The parts of a path that name it, the last one first: not run.json, and no file ending.
std::vector<std::string> names_of(const std::string& input) {
    fs::path path = fs::path{input}.lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    std::vector<std::string> names;
    if (path.filename() == "run.json") path = path.parent_path();
    names.push_back(path.extension() == ".json" ? path.stem().string() : path.filename().string());
    for (path = path.parent_path(); path.has_filename(); path = path.parent_path())
        names.push_back(path.filename().string());
    return names;
}

/// Inputs without a label get the shortest one that tells them apart: a/new.json and b/new.json are
/// "a/new" and "b/new".
std::vector<std::string> label_inputs(const std::vector<std::string>& inputs) {
    std::vector<std::string> labels(inputs.size());
    std::vector<std::vector<std::string>> names;
    for (const auto& input : inputs) names.push_back(names_of(input));
    for (std::size_t parts = 1; parts <= 32; ++parts) { // deeper folders keep equal labels
        std::map<std::string, std::size_t> seen;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (has_label(inputs[i])) continue;
            labels[i].clear();
            for (std::size_t part = std::min(parts, names[i].size()); part-- > 0;)
                labels[i] += fmt::format("{}{}", labels[i].empty() ? "" : "/", names[i][part]);
            ++seen[labels[i]];
        }
        if (std::ranges::all_of(seen, [](const auto& entry) { return entry.second == 1; })) break;
    }
    std::vector<std::string> labelled;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::ranges::replace(labels[i], '=', '-'); // the first one ends the label
        labelled.push_back(labels[i].empty() ? inputs[i]
                                             : fmt::format("{}={}", labels[i], inputs[i]));
    }
    return labelled;
}

ExitCode code_of(const compare::Comparison& comparison, const Options& options) {
    if (!has_common(comparison)) return ExitCode::inconclusive;
    const bool worse = std::ranges::any_of(comparison.tallies,
                                           [](const compare::Tally& t) { return t.worse > 0; });
    return worse && options.fail_on == "worse" ? ExitCode::failed : ExitCode::done;
}

} // namespace

Result<ExitCode> compare_runs(const Options& options) {
    auto collecting = options.collecting;
    collecting.others = collecting.metrics.empty();
    ASSAY_TRY(const auto collection, collect(label_inputs(options.inputs), collecting));
    auto how = options.comparing;
    if (options.correction == "holm") how.correction = compare::Correction::family_wise;
    ASSAY_TRY(const auto comparison, compare::compare(collection, how));
    ASSAY_TRY(deliver(options, outputs_of(comparison), inputs_of(comparison)));
    return code_of(comparison, options);
}

} // namespace assay::reports_cli
