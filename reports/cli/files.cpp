// SPDX-License-Identifier: Apache-2.0

#include "files.hpp"

#include "base/file.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "write/formats.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace assay::reports_cli {
namespace {

/// Terminals wider than this are not filled: long lines are hard to read.
constexpr std::size_t widest = 100;
/// Rows of a table on a terminal: two or three screens. Files and pipes get all.
constexpr std::size_t most_rows = 50;

} // namespace

Result<void> write(const std::filesystem::path& path, std::string_view content) {
    return write(path, [content](const Sink& sink) { return sink(content); });
}

Result<void> write(const std::filesystem::path& path, const Produce& produce) {
    if (path == "-") return print_file(produce);
    remove_abandoned_drafts(path.parent_path());
    return write_atomically(path, produce);
}

Result<void> deliver(const Options& options, const Outputs& outputs,
                     const std::vector<store::Input>& inputs) {
    std::optional<std::vector<document::Document>> made;
    const auto documents = [&]() -> const std::vector<document::Document>& {
        if (!made) made = outputs.documents();
        return *made;
    };
    using Render = std::function<Result<std::string>()>;
    const auto page = [&] {
        return write::to_html(
            documents(),
            {.page = options.static_page ? std::nullopt : write::find_page(layout().share),
             .created = utc_now()});
    };
    const std::pair<const std::filesystem::path&, Render> files[] = {
        {options.html, page},
        {options.pdf,
         [&] { return page().and_then([](const auto& html) { return write::to_pdf(html); }); }},
        {options.markdown, [&] { return write::to_markdown(documents()); }},
        {options.workbook, [&] { return write::to_workbook(documents()); }},
        {options.csv, [&] { return outputs.csv(); }}};
    for (const auto& [path, render] : files) ASSAY_TRY(check_output(path, inputs));
    bool any_file = outputs.written;
    for (const auto& [path, render] : files) {
        if (path.empty()) continue;
        ASSAY_TRY(const auto content, render());
        ASSAY_TRY(write(path, content));
        any_file = true;
    }
    if (options.json)
        return outputs.long_json ? print_json(outputs.long_json) : print_json(outputs.json());
    if (outputs.brief) return print(outputs.brief());
    if (any_file) return {};
    const auto terminal = terminal_style();
    const bool all = options.all_rows || !terminal.present;
    return print(write::to_terminal(documents(), terminal, all ? 0 : most_rows));
}

Result<std::optional<store::Collection>> collect_any(const std::vector<std::string>& paths,
                                                     const store::CollectOptions& options) {
    if (paths.empty()) return std::nullopt;
    return collect(paths, options);
}

Result<std::optional<double>> since_of(const Options& options) {
    if (options.since.empty()) return std::nullopt;
    const auto since = document::seconds_of_date(options.since);
    if (!since)
        return fail(
            fmt::format("--since: invalid date '{}' (expected YYYY-MM-DD)", plain(options.since)));
    return since;
}

Terminal terminal_style() {
    auto terminal = terminal_of(STDOUT_FILENO);
    if (!terminal.asked) terminal.width = std::min(terminal.width, widest);
    return terminal;
}

} // namespace assay::reports_cli
