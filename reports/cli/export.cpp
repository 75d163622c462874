// SPDX-License-Identifier: Apache-2.0

#include "export/gbench.hpp"
#include "export/long_table.hpp"
#include "export/openmetrics.hpp"
#include "files.hpp"
#include "json/json.hpp"
#include "record/reader.hpp"
#include "report/input.hpp"
#include "report/text.hpp"
#include "store/find.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

std::filesystem::path output_of(const Options& options) {
    return options.out.empty() ? "-" : options.out;
}

Result<ExitCode> show_columns(const Options& options) {
    const auto done =
        options.json ? print_json(json::to_text(columns_schema())) : print(columns_in_words());
    if (!done) return tl::unexpected{done.error()};
    return ExitCode::done;
}

/// What was done, for --json; there is room for it where the export is in a file.
Result<ExitCode> finish(const Options& options, json::Value document) {
    if (!options.json || output_of(options) == "-") return ExitCode::done;
    document["schema"] = "assay.export/1";
    document["format"] = options.format;
    document["file"] = plain(options.out.string());
    if (auto done = print_json(json::to_text(document)); !done) return tl::unexpected{done.error()};
    return ExitCode::done;
}

Result<ExitCode> export_one(const Options& options) {
    const auto inputs = find_inputs(options.inputs);
    if (!inputs) return tl::unexpected{inputs.error()};
    if (auto fine = check_output(options.out, *inputs); !fine) return tl::unexpected{fine.error()};
    const auto run = read_result(inputs->front().file);
    if (!run) return tl::unexpected{run.error()};
    if (auto done = write(output_of(options), to_gbench(*run)); !done)
        return tl::unexpected{done.error()};
    return finish(options, {{"from", plain(inputs->front().file.string())}});
}

/// The content, and which runs it has.
bool produce(const Options& options, const FoundFiles& files, const Sink& sink, EachRun& read) {
    if (options.format == "openmetrics") {
        const auto text = to_openmetrics(files, {.timestamps = options.timestamps}, read);
        return read.runs > 0 && sink(text);
    }
    const auto format = options.format == "csv" ? TableFormat::csv : TableFormat::ndjson;
    return write_table(files, format, sink, read) && read.runs > 0;
}

std::string in_words(const Problem& problem) {
    return fmt::format("{}: {}", problem.where, problem.reason);
}

Result<ExitCode> export_many(const Options& options) {
    const auto files = find_files(options.inputs);
    if (!files) return tl::unexpected{files.error()};
    std::vector<Input> inputs;
    for (const auto& file : files->files) inputs.push_back({.label = "", .file = file.path});
    if (auto fine = check_output(options.out, inputs); !fine) return tl::unexpected{fine.error()};
    EachRun read;
    const auto done = write(output_of(options),
                            [&](const Sink& sink) { return produce(options, *files, sink, read); });
    const auto& problems = read.problems;
    if (read.runs == 0)
        return fail(problems.empty() ? "there is no run in these inputs"
                                     : in_words(problems.front()) +
                                           (problems.size() == 1
                                                ? ""
                                                : fmt::format("; nor can {} other files be used",
                                                              problems.size() - 1)));
    if (!done) return tl::unexpected{done.error()};
    json::Value list = json::Value::array();
    for (const auto& problem : problems) {
        print_error(fmt::format("assay-report: not exported: {}\n", in_words(problem)));
        list.push_back({{"file", problem.where}, {"reason", problem.reason}});
    }
    return finish(options, {{"runs", read.runs}, {"problems", std::move(list)}});
}

} // namespace

Result<ExitCode> export_run(const Options& options) {
    if (options.columns) return show_columns(options);
    if (!options.evidence.bundle.empty()) return export_bundle(options);
    return options.format == "gbench" ? export_one(options) : export_many(options);
}

} // namespace assay::report
