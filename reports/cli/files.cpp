// SPDX-License-Identifier: Apache-2.0

#include "files.hpp"

#include "base/file.hpp"
#include "language/language.hpp"
#include "write/html.hpp"
#include "write/markdown.hpp"
#include "write/terminal.hpp"
#include "write/workbook.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace assay::report {
namespace {

/// Terminals wider than this are not filled: long lines are hard to read.
constexpr std::size_t widest = 100;

} // namespace

Result<void> write(const std::filesystem::path& path, std::string_view content) {
    return path == "-" ? print_file(content) : write_atomically(path, content);
}

Result<void> deliver(const Options& options, const Renderings& renderings,
                     const std::vector<Input>& inputs) {
    const std::pair<const std::filesystem::path&, const std::function<Result<std::string>()>&>
        files[] = {{options.html, renderings.html},
                   {options.markdown, renderings.markdown},
                   {options.workbook, renderings.workbook},
                   {options.csv, renderings.csv}};
    for (const auto& [path, render] : files)
        if (auto fine = check_output(path, inputs); !fine) return fine;
    bool any_file = false;
    for (const auto& [path, render] : files) {
        if (path.empty()) continue;
        const auto content = render();
        if (!content) return tl::unexpected{content.error()};
        if (auto done = write(path, *content); !done) return done;
        any_file = true;
    }
    if (options.json) return print(renderings.json());
    return any_file ? Result<void>{} : print(renderings.terminal());
}

Result<void> deliver(const Options& options, const Outputs& outputs,
                     const std::vector<Input>& inputs) {
    const auto& documents = outputs.documents;
    const Renderings renderings{
        .html =
            [&] {
                return write::to_html(
                    documents,
                    {.page = options.static_page ? std::nullopt : write::find_page(layout().share),
                     .created = utc_now()});
            },
        .markdown = [&] { return write::to_markdown(documents); },
        .workbook = [&] { return write::to_workbook(documents); },
        .csv = [&] { return outputs.csv(); },
        .json = outputs.json,
        .terminal = [&] { return write::to_terminal(documents, terminal_style()); }};
    return deliver(options, renderings, inputs);
}

Terminal terminal_style() {
    auto terminal = terminal_of(STDOUT_FILENO);
    terminal.width = std::min(terminal.width, widest);
    return terminal;
}

} // namespace assay::report
