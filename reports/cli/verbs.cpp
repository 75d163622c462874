// SPDX-License-Identifier: Apache-2.0

#include "verbs.hpp"

#include "base/file.hpp"
#include "json/json.hpp"
#include "model/input.hpp"
#include "model/text.hpp"
#include "model/view.hpp"
#include "record/check.hpp"
#include "record/reader.hpp"
#include "render/csv.hpp"
#include "render/gbench.hpp"
#include "render/html.hpp"
#include "render/json.hpp"
#include "render/markdown.hpp"
#include "render/terminal.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace assay::report {
namespace {

namespace fs = std::filesystem;

/// To stdout, whole or with the reason why not: a full disk behind a redirection is an error.
Result<void> print(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (written && std::fflush(stdout) == 0) return {};
    return fail(fmt::format("cannot write to standard output: {}", std::strerror(errno)),
                Fault::environment);
}

Result<void> write(const fs::path& path, std::string_view content) {
    return path == "-" ? print(content) : write_atomically(path, content);
}

/// Terminals wider than this are not filled: long lines are hard to read.
constexpr std::size_t widest = 100;

TerminalStyle terminal_style() {
    TerminalStyle style;
    if (isatty(STDOUT_FILENO) == 0) return style;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        style.width = std::min<std::size_t>(size.ws_col, widest);
    const char* no_colour = std::getenv("NO_COLOR"); // no-color.org: set and not empty
    const char* kind = std::getenv("TERM");
    const bool dumb = kind == nullptr || std::string_view{kind} == "dumb";
    style.colour = !dumb && (no_colour == nullptr || *no_colour == '\0');
    return style;
}

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

/// What is wrong with one file, in words and as JSON.
struct Verdict {
    std::string text;
    json::Value value;
    bool passed = true;
};

Verdict verdict_of(const fs::path& file, const std::vector<record::Finding>& findings) {
    const std::string name = plain(file.string());
    Verdict verdict{.passed = findings.empty()};
    json::Value list = json::Value::array();
    for (const auto& finding : findings)
        list.push_back({{"path", plain(finding.path)}, {"text", plain(finding.text)}});
    verdict.value = {{"file", name}, {"passed", verdict.passed}, {"findings", std::move(list)}};
    if (findings.empty()) {
        verdict.text = fmt::format(
            "{}: consistent. It fits the schema, and its figures follow from its batch values.\n",
            name);
        return verdict;
    }
    verdict.text = fmt::format("{}: {}\n", name,
                               count_of(findings.size(), "thing is wrong", "things are wrong"));
    constexpr std::size_t shown = 50; // lines; --json has all
    for (std::size_t i = 0; i < std::min(findings.size(), shown); ++i)
        verdict.text += fmt::format("  {}: {}\n", plain(findings[i].path), plain(findings[i].text));
    if (findings.size() > shown)
        verdict.text += fmt::format("  and {} more (--json lists all)\n", findings.size() - shown);
    return verdict;
}

Result<ExitCode> verify(const Options& options) {
    const auto inputs = find_inputs(options.inputs);
    if (!inputs) return tl::unexpected{inputs.error()};
    json::Value list = json::Value::array();
    std::string text;
    bool passed = true;
    for (const auto& input : *inputs) {
        const auto findings = record::verify_run(input.file);
        if (!findings) return tl::unexpected{findings.error()};
        auto verdict = verdict_of(input.file, *findings);
        passed = passed && verdict.passed;
        text += verdict.text;
        list.push_back(std::move(verdict.value));
    }
    if (options.json)
        text = json::to_text(
            {{"schema", "assay.verify/1"}, {"passed", passed}, {"files", std::move(list)}});
    if (auto done = print(text); !done) return tl::unexpected{done.error()};
    return passed ? ExitCode::done : ExitCode::failed;
}

Result<ExitCode> export_run(const Options& options) {
    const auto inputs = find_inputs(options.inputs);
    if (!inputs) return tl::unexpected{inputs.error()};
    if (auto fine = check_output(options.out, *inputs); !fine) return tl::unexpected{fine.error()};
    const auto run = record::read_run(inputs->front().file);
    if (!run) return tl::unexpected{run.error()};
    const std::string content = options.format == "csv" ? to_csv(*run) : to_gbench(*run);
    if (auto done = write(options.out.empty() ? "-" : options.out, content); !done)
        return tl::unexpected{done.error()};
    const bool to_file = !options.out.empty() && options.out != "-";
    if (options.json && to_file)
        if (auto done = print(json::to_text({{"schema", "assay.export/1"},
                                             {"from", plain(inputs->front().file.string())},
                                             {"format", options.format},
                                             {"file", plain(options.out.string())}}));
            !done)
            return tl::unexpected{done.error()};
    return ExitCode::done;
}

} // namespace

ExitCode perform(const Options& options) {
    const auto verb = options.verb == Verb::report   ? &report
                      : options.verb == Verb::verify ? &verify
                                                     : &export_run;
    const auto code = verb(options);
    if (code) return *code;
    std::fprintf(stderr, "assay-report: %s\n", plain(code.error().message, 4000).c_str());
    return exit_code(code.error());
}

} // namespace assay::report
