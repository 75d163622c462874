// SPDX-License-Identifier: Apache-2.0

#include "document/texts/limits.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "files.hpp"
#include "fleet/derive.hpp"
#include "judge/effective.hpp"
#include "judge/lint.hpp"
#include "record/reader.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::reports_cli {
namespace {

Result<ExitCode> lint_files(const Options& options) {
    std::vector<judge::NamedLimits> files;
    std::vector<std::string> names;
    std::vector<document::LintRow> found;
    std::size_t limits = 0;
    bool unreadable = false;
    for (const auto& input : options.inputs) {
        ASSAY_TRY(const auto path, judge::find_limits(input));
        ASSAY_TRY(const auto text, read_whole(path, json::Limits{}.bytes));
        names.push_back(plain(path.string()));
        auto read = judge::parse_limits(text, names.back());
        if (read) {
            limits += read->limits.size();
            files.push_back({.file = names.back(), .limits = std::move(*read)});
            continue;
        }
        unreadable = true;
        std::ranges::move(judge::lint_unreadable(names.back(), text, read.error().message),
                          std::back_inserter(found));
    }
    ASSAY_TRY(const auto hardware, reference::read_hardware());
    judge::LintOptions how{.hardware = &hardware};
    ASSAY_TRY(const auto runs, collect_any(options.limits.runs, options.collecting));
    if (runs) how.runs = &*runs;
    std::ranges::move(lint(files, how), std::back_inserter(found));
    const Outputs outputs{
        .documents = [&] { return std::vector{judge::make_document(found, names, limits)}; },
        .json = [&] { return judge::to_json(found, names, limits); },
        .csv = {}};
    ASSAY_TRY(deliver(options, outputs, inputs_of(names)));
    if (unreadable) return ExitCode::usage;
    return document::serious_of(found) > 0 ? ExitCode::failed : ExitCode::done;
}

/// A run, or a folder of runs? Anything else is a file of limits, or is refused as one.
bool is_run(const std::string& input) {
    std::error_code ignored;
    if (std::filesystem::is_directory(input, ignored)) return true;
    constexpr std::size_t enough = 4096; // the schema stands at the front of every run
    const auto text = read_whole(input, record::ReadOptions{}.bytes);
    return text && std::string_view{*text}.substr(0, enough).find("\"assay.run/") != text->npos;
}

Result<ExitCode> show_limits(const Options& options) {
    std::vector<judge::LimitsFile> files;
    std::vector<std::string> runs;
    std::vector<std::string> names;
    for (const auto& input : options.inputs) {
        if (is_run(input)) {
            runs.push_back(input);
            continue;
        }
        ASSAY_TRY(const auto path, judge::find_limits(input));
        ASSAY_TRY(auto read, judge::read_limits(path));
        names.push_back(path.string());
        files.push_back(std::move(read));
    }
    if (files.empty())
        return fail(
            "limits show: no limits file given; for example: assay limits show spec RUN.json");
    ASSAY_TRY(auto limits, layered(std::move(files)));
    ASSAY_TRY(auto collection, collect_any(runs, collecting_for(limits, options.collecting)));
    ASSAY_TRY(const auto found,
              judge::effective(std::move(limits), std::move(collection), seconds_now()));
    ASSAY_TRY(deliver(options, outputs_of(found), inputs_of(names)));
    return ExitCode::done;
}

Result<ExitCode> derive_limits(const Options& options) {
    const auto& asked = options.limits;
    ASSAY_TRY(const auto collection, collect(options.inputs, options.collecting));
    ASSAY_TRY(const auto derived, fleet::derive(collection, {.by = asked.by,
                                                             .filter = asked.filter,
                                                             .name = options.out.stem().string(),
                                                             .author = asked.author,
                                                             .valid_days = asked.valid_days}));
    const auto inputs = inputs_of(collection.runs);
    ASSAY_TRY(check_output(options.out, inputs));
    ASSAY_TRY(write(options.out, json::to_text(to_json(derived.file))));
    if (options.out == "-") return ExitCode::done;
    ASSAY_TRY(deliver(options, outputs_of(derived), inputs));
    return ExitCode::done;
}

Result<ExitCode> start_limits(const Options& options) {
    const std::filesystem::path out = options.out.empty() ? "-" : options.out;
    std::error_code ignored;
    if (out != "-" && std::filesystem::exists(out, ignored))
        return fail(plain(out.string()) + " exists; give another name");
    ASSAY_TRY(const auto collection, collect(options.inputs, options.collecting));
    const auto name = out == "-" ? std::string{"example"} : out.stem().string();
    ASSAY_TRY(const auto example,
              fleet::example_of(collection, {.name = name,
                                             .author = options.limits.author,
                                             .valid_days = options.limits.valid_days}));
    ASSAY_TRY(write(out, json::to_text(to_json(example))));
    if (out == "-") return ExitCode::done;
    const auto count = example.file.limits.size();
    auto text = document::say<text::limits::example_written>(
        plain(out.string()), document::say_count<text::limits::limits_of>(count));
    if (example.left_out > 0)
        text += "\n" + document::say_count<text::limits::example_left_out>(example.left_out);
    ASSAY_TRY(print(text + "\n"));
    return ExitCode::done;
}

} // namespace

Result<ExitCode> limits(const Options& options) {
    if (options.limits.action == "init") return start_limits(options);
    if (options.limits.action == "lint") return lint_files(options);
    if (options.limits.action == "show") return show_limits(options);
    return derive_limits(options);
}

} // namespace assay::reports_cli
