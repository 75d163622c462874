// SPDX-License-Identifier: Apache-2.0

#include "files.hpp"
#include "model/input.hpp"
#include "model/view.hpp"
#include "record/reader.hpp"
#include "render/html.hpp"
#include "render/json.hpp"
#include "render/markdown.hpp"
#include "render/terminal.hpp"
#include "render/workbook.hpp"
#include "verbs.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::report {
namespace {

/// A report travels: of the file's place it says the last folder, which is the run's.
std::string source_of(const std::filesystem::path& file) {
    return file.parent_path().filename() / file.filename();
}

Result<std::vector<Report>> make_reports(const std::vector<Input>& inputs) {
    std::vector<Report> reports;
    for (const auto& input : inputs) {
        const auto run = record::read_run(input.file);
        if (!run) return tl::unexpected{run.error()};
        reports.push_back(
            make_report(*run, {.label = input.label, .source = source_of(input.file)}));
    }
    return reports;
}

std::string in_terminal(const std::vector<Report>& reports) {
    std::string text;
    for (const auto& report : reports)
        text += (text.empty() ? "" : "\n\n") + to_terminal(report, terminal_style());
    return text;
}

} // namespace

Result<ExitCode> report(const Options& options) {
    const auto inputs = find_inputs(options.inputs);
    if (!inputs) return tl::unexpected{inputs.error()};
    const auto reports = make_reports(*inputs);
    if (!reports) return tl::unexpected{reports.error()};
    const auto title = reports->size() == 1 ? reports->front().title : "";
    const Renderings renderings{.html =
                                    [&] {
                                        return make_page(
                                            options, {.title = title, .report = to_json(*reports)},
                                            [&] { return to_html(*reports); });
                                    },
                                .markdown = [&] { return to_markdown(*reports); },
                                .workbook = [&] { return to_workbook(*reports); },
                                .csv = {}, // one run's figures are `export --to csv`
                                .json = [&] { return to_json(*reports); },
                                .terminal = [&] { return in_terminal(*reports); }};
    if (auto done = deliver(options, renderings, *inputs); !done)
        return tl::unexpected{done.error()};
    return ExitCode::done;
}

} // namespace assay::report
