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

#include <vector>

namespace assay::report {
namespace {

Result<std::vector<Report>> make_reports(const std::vector<Input>& inputs) {
    std::vector<Report> reports;
    for (const auto& input : inputs) {
        const auto run = record::read_run(input.file);
        if (!run) return tl::unexpected{run.error()};
        reports.push_back(make_report(*run, {.label = input.label, .source = input.file.string()}));
    }
    return reports;
}

Result<void> show(const std::vector<Report>& reports) {
    const TerminalStyle style = terminal_style();
    for (std::size_t i = 0; i < reports.size(); ++i)
        if (auto done = print((i == 0 ? "" : "\n\n") + to_terminal(reports[i], style)); !done)
            return done;
    return {};
}

Result<void> write_page(const Options& options, const std::vector<Report>& reports) {
    const auto page = make_page(
        options,
        {.title = reports.size() == 1 ? reports.front().title : "", .report = to_json(reports)},
        [&] { return to_html(reports); });
    if (!page) return tl::unexpected{page.error()};
    return write(options.html, *page);
}

} // namespace

Result<ExitCode> report(const Options& options) {
    const auto inputs = find_inputs(options.inputs);
    if (!inputs) return tl::unexpected{inputs.error()};
    for (const auto* path : {&options.html, &options.markdown, &options.workbook})
        if (auto fine = check_output(*path, *inputs); !fine) return tl::unexpected{fine.error()};
    const auto reports = make_reports(*inputs);
    if (!reports) return tl::unexpected{reports.error()};
    const bool any_file =
        !options.html.empty() || !options.markdown.empty() || !options.workbook.empty();
    if (!options.html.empty())
        if (auto done = write_page(options, *reports); !done) return tl::unexpected{done.error()};
    if (!options.markdown.empty())
        if (auto done = write(options.markdown, to_markdown(*reports)); !done)
            return tl::unexpected{done.error()};
    if (!options.workbook.empty()) {
        const auto book = to_workbook(*reports);
        if (!book) return tl::unexpected{book.error()};
        if (auto done = write(options.workbook, *book); !done) return tl::unexpected{done.error()};
    }
    Result<void> shown;
    if (options.json)
        shown = print(to_json(*reports));
    else if (!any_file)
        shown = show(*reports);
    if (!shown) return tl::unexpected{shown.error()};
    return ExitCode::done;
}

} // namespace assay::report
