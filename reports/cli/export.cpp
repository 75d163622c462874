// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/evidence.hpp"
#include "exchange/bundle.hpp"
#include "exchange/bundle_files.hpp"
#include "exchange/long_table.hpp"
#include "exchange/openmetrics.hpp"
#include "files.hpp"
#include "json/json.hpp"
#include "store/find.hpp"
#include "store/input.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay::reports_cli {

using namespace document;
namespace {

std::filesystem::path output_of(const Options& options) {
    return options.out.empty() ? "-" : options.out;
}

Result<ExitCode> show_columns(const Options& options) {
    ASSAY_TRY(options.json ? print_json(json::to_text(exchange::columns_schema()))
                           : print(exchange::columns_in_words()));
    return ExitCode::done;
}

/// The work done, for --json; there is room for it where the export is in a file.
Result<ExitCode> finish(const Options& options, json::Value document) {
    if (!options.json || output_of(options) == "-") return ExitCode::done;
    document["schema"] = "assay.export/1";
    document["format"] = options.format;
    document["file"] = plain(options.out.string());
    ASSAY_TRY(print_json(json::to_text(document)));
    return ExitCode::done;
}

/// The content, and which runs it has.
bool produce(const Options& options, const store::FoundFiles& files, const Sink& sink,
             store::EachRun& read) {
    if (options.format == "openmetrics") {
        const auto text = exchange::to_openmetrics(files, {.timestamps = options.timestamps}, read);
        return read.runs > 0 && sink(text);
    }
    const auto format =
        options.format == "csv" ? exchange::TableFormat::csv : exchange::TableFormat::ndjson;
    return write_table(files, format, sink, read) && read.runs > 0;
}

std::string in_words(const store::Problem& problem) {
    return fmt::format("{}: {}", problem.where, problem.reason);
}

/// A folder of evidence.
Result<ExitCode> export_bundle(const Options& options) {
    const auto& asked = options.evidence;
    if (exchange::is_bundle(options.inputs.front()))
        return fail(fmt::format("{} is already a bundle", options.inputs.front()));
    ASSAY_TRY(const auto made, exchange::make_bundle(options.inputs, asked.bundle,
                                                     {.limits = options.checking.limits,
                                                      .key = asked.key,
                                                      .serials = asked.serials,
                                                      .created = utc_now()}));
    const auto name = plain(asked.bundle.string());
    if (options.json)
        ASSAY_TRY(print_json(json::to_text({{"schema", "assay.export/1"},
                                            {"format", "bundle"},
                                            {"file", name},
                                            {"results", made.results},
                                            {"logs", made.logs},
                                            {"verdict", made.verdict},
                                            {"signed", made.is_signed}})));
    else
        ASSAY_TRY(print(fmt::format(
            "{}\n{}\n", say_count<text::evidence::made>(made.results, name, made.verdict),
            made.is_signed ? say<text::evidence::made_signed>(name)
                           : say<text::evidence::not_signed>())));
    return ExitCode::done;
}

} // namespace

Result<ExitCode> export_run(const Options& options) {
    if (options.columns) return show_columns(options);
    if (!options.evidence.bundle.empty()) return export_bundle(options);
    ASSAY_TRY(const auto files, store::find_files(options.inputs));
    std::vector<store::Input> inputs;
    for (const auto& file : files.files) inputs.push_back({.label = "", .file = file.path});
    ASSAY_TRY(check_output(options.out, inputs));
    store::EachRun read;
    const auto done = write(output_of(options),
                            [&](const Sink& sink) { return produce(options, files, sink, read); });
    const auto& problems = read.problems;
    if (read.runs == 0 && !problems.empty())
        return fail(in_words(problems.front()) +
                    (problems.size() == 1
                         ? ""
                         : fmt::format(" (and {} more unusable files)", problems.size() - 1)));
    if (!done) return tl::unexpected{done.error()};
    if (read.runs == 0) return fail("no runs in these inputs");
    json::Value list = json::Value::array();
    for (const auto& problem : problems) {
        print_error(fmt::format("assay-report: not exported: {}\n", in_words(problem)));
        list.push_back({{"file", problem.where}, {"reason", problem.reason}});
    }
    return finish(options, {{"runs", read.runs}, {"problems", std::move(list)}});
}

} // namespace assay::reports_cli
