// SPDX-License-Identifier: Apache-2.0

#include "files.hpp"
#include "model/input.hpp"
#include "model/view.hpp"
#include "record/reader.hpp"
#include "render/html.hpp"
#include "render/json.hpp"
#include "render/markdown.hpp"
#include "render/terminal.hpp"
#include "verbs.hpp"

#include <utility>
#include <vector>

namespace assay::report {
namespace {

namespace fs = std::filesystem;

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

} // namespace

Result<ExitCode> report(const Options& options) {
    const auto inputs = find_inputs(options.inputs);
    if (!inputs) return tl::unexpected{inputs.error()};
    const std::pair<const fs::path&, std::string (*)(std::span<const Report>)> outputs[] = {
        {options.html, &to_html}, {options.markdown, &to_markdown}};
    for (const auto& [path, render] : outputs)
        if (auto fine = check_output(path, *inputs); !fine) return tl::unexpected{fine.error()};
    const auto reports = make_reports(*inputs);
    if (!reports) return tl::unexpected{reports.error()};
    bool any_file = false;
    for (const auto& [path, render] : outputs) {
        if (path.empty()) continue;
        if (auto done = write(path, render(*reports)); !done) return tl::unexpected{done.error()};
        any_file = true;
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
