// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "cli/console.hpp"
#include "cli/progress.hpp"
#include "cli/summary.hpp"
#include "cli/verbs.hpp"
#include "core/expectations.hpp"
#include "core/runner.hpp"
#include "json/json.hpp"
#include "machine/inventory.hpp"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::cli {
namespace {

struct Reports {
    std::filesystem::path html;
    std::filesystem::path markdown;
};

/// Starts a program with its stdout on our stderr and waits for it. Did it end well?
bool run_program(std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (auto& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_t child = 0;
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    const int fault =
        ::posix_spawnp(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    int status = -1;
    if (fault == 0)
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    return fault == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Has assay-report write the report beside the result.
std::optional<Reports> write_reports(const std::filesystem::path& file,
                                     const std::string& language) {
    const Reports reports{.html = file.parent_path() / "report.html",
                          .markdown = file.parent_path() / "report.md"};
    if (run_program({layout().programs / "assay-report", "report", file, "--html", reports.html,
                     "--md", reports.markdown, "--lang", language}))
        return reports;
    fmt::print(stderr, "assay: warning: no report was written; `assay report {}` tries again\n",
               file.string());
    return std::nullopt;
}

/// Where nobody looks at a display there is nothing to open; the path was printed.
void open_in_browser(const std::filesystem::path& page) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
    run_program({"xdg-open", page});
}

void show_outcome(const core::Outcome& outcome, const std::optional<Reports>& reports,
                  const Options& options) {
    if (options.json) {
        auto document = summary_json(outcome);
        document["report"] = reports ? json::Value(reports->html.string()) : json::Value(nullptr);
        print(json::to_text(document));
        return;
    }
    const auto terminal = terminal_of(STDOUT_FILENO);
    if (!options.quiet) print(fmt::format("\n{}\n", summary_text(outcome.run, terminal)));
    print(fmt::format("result: {}\n", outcome.file.string()));
    if (reports) print(fmt::format("report: {}\n", reports->html.string()));
    if (outcome.signal != 0)
        print("Interrupted: the same command with --resume continues this run.\n");
}

} // namespace

ExitCode run(const Options& options) {
    const auto catalogue = core::read_catalogue();
    warn_of_problems(catalogue);
    const auto made = core::make_plan(catalogue, request_of(options));
    if (!made) return report(made.error());
    if (options.dry_run) {
        show_plan(*made, options);
        return ExitCode::done;
    }
    if (!options.expect.empty()) {
        const auto machine = machine::inspect({.core_clock = false});
        if (const auto met = core::check_expectations(machine, options.expect); !met)
            return report(met.error());
    }
    if (!options.quiet)
        for (const auto& note : made->notes) fmt::print(stderr, "note: {}\n", note);
    const core::RunOptions how{.out = options.out,
                               .campaign = options.campaign,
                               .provider = options.provider,
                               .instance = options.instance,
                               .resume = options.resume,
                               .keep_samples = options.raw,
                               .record_hostname = options.hostname};
    auto outcome = [&] {
        ProgressLine progress{*made, options.quiet};
        return core::run(*made, how, progress);
    }();
    if (!outcome) return report(outcome.error());
    const auto reports = write_reports(outcome->file, options.language);
    show_outcome(*outcome, reports, options);
    if (options.open && reports) open_in_browser(reports->html);
    return exit_code(*outcome);
}

} // namespace assay::cli
