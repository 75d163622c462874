// SPDX-License-Identifier: Apache-2.0

#include "report/report.hpp"

#include "base/console.hpp"
#include "files.hpp"
#include "record/same_machine.hpp"
#include "store/find.hpp"
#include "store/input.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::reports_cli {
namespace {

/// A report travels: of the file's place it says the last folder, which is the run's.
std::string source_of(const std::filesystem::path& file) {
    return file.parent_path().filename() / file.filename();
}

/// The run of an input. For a folder it is the newest one, unless that was
/// stopped and an earlier one of the same machine was not.
Result<record::Run> read_input(store::Input& input, const std::string& argument) {
    auto run = store::read_result(input.file);
    const auto named = store::split_label(argument);
    if (!run || run->status == "done" || named->file == input.file) return run;
    auto found = store::find_files({argument});
    if (!found) return run;
    std::ranges::stable_sort(found->files, std::ranges::greater{},
                             [](const store::FoundFile& file) { return file.modified; });
    for (const auto& file : found->files) {
        auto earlier = store::read_result(file.path);
        if (!earlier || earlier->status != "done" || !record::is_same_machine(*earlier, *run))
            continue;
        print_error(fmt::format("assay-report: note: {} was interrupted; showing the last complete "
                                "run of its machine\n",
                                input.file.string()));
        input.file = file.path;
        return earlier;
    }
    return run;
}

Result<std::vector<report::Report>> make_reports(std::vector<store::Input>& inputs,
                                                 const Options& options) {
    std::vector<report::Report> reports;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        auto& input = inputs[i];
        ASSAY_TRY(const auto run, read_input(input, options.inputs[i]));
        reports.push_back(report::make_report(run, {.label = input.label,
                                                    .source = source_of(input.file),
                                                    .p99 = options.serving.seconds}));
    }
    return reports;
}

} // namespace

Result<ExitCode> report(const Options& options) {
    if (options.procuring.kind == "procurement") return procure(options);
    ASSAY_TRY(auto inputs, store::find_inputs(options.inputs));
    ASSAY_TRY(const auto reports, make_reports(inputs, options));
    const auto documents = [&] {
        std::vector<document::Document> all;
        for (const auto& report : reports) all.push_back(make_document(report));
        return all;
    };
    const Outputs outputs{.documents = documents,
                          .json = [&] { return to_json(reports); },
                          .csv = {}}; // one run's values are `export --to csv`
    ASSAY_TRY(deliver(options, outputs, inputs));
    return ExitCode::done;
}

} // namespace assay::reports_cli
