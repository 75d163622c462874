// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogue.hpp"
#include "cli/console.hpp"
#include "cli/reports.hpp"
#include "cli/summary.hpp"
#include "cli/verbs.hpp"
#include "decide/expectations.hpp"
#include "json/json.hpp"
#include "machine/inventory.hpp"
#include "machine/system.hpp"
#include "plan/manifest.hpp"
#include "process/preemption.hpp"
#include "run/runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace assay::cli {
namespace {

/// The first cases that the time limit left out, and the number of the others.
std::string without_time(const record::Run& run, std::size_t missing, const Terminal& terminal) {
    constexpr std::size_t most = 5;
    std::vector<std::string> names;
    for (const auto& c : run.cases)
        if (c.replicas.empty() && c.status == record::Status::interrupted && names.size() < most)
            names.push_back(record::identity(c));
    if (missing > names.size()) names.push_back(fmt::format("{} more", missing - names.size()));
    return indented(fmt::format("no time for {} case{}: {}", missing, missing == 1 ? "" : "s",
                                fmt::join(names, ", ")),
                    2, terminal.width) +
           '\n';
}

void show_outcome(const run::Outcome& outcome, const std::optional<Reports>& reports,
                  const Options& options) {
    if (options.json) {
        auto document = summary_json(outcome, options.fail_on);
        document["report"] = reports ? json::Value(reports->html.string()) : json::Value(nullptr);
        print_json(json::to_text(document));
        return;
    }
    if (outcome.was_complete) {
        print(fmt::format("nothing left to measure: {} is complete\n", outcome.file.string()));
        return;
    }
    const auto terminal = terminal_of(STDOUT_FILENO);
    if (!options.quiet && !lacks_part(outcome.run)) {
        auto shown = outcome.run;
        run::reveal(shown, outcome.hidden);
        print(fmt::format("\n{}\n", summary_text(shown, terminal)));
    }
    if (!options.quiet && options.check && outcome.ended_early > 0)
        print(fmt::format("{} of {} case{} needed fewer replicas than planned: checks decided\n",
                          outcome.ended_early, outcome.run.cases.size(),
                          outcome.run.cases.size() == 1 ? "" : "s"));
    print(fmt::format("result: {}\n", outcome.file.string()));
    if (reports) print(fmt::format("report: {}\n", reports->html.string()));
    const auto missing = not_measured(outcome.run);
    if (outcome.out_of_time && missing > 0) print(without_time(outcome.run, missing, terminal));
    if (lacks_part(outcome.run))
        print("Nothing was measured: the machine lacks hardware that --expect requires.\n");
    else if (outcome.signal != 0 || outcome.out_of_time)
        print(indented(fmt::format("{}: {}the same command with --resume continues this run.",
                                   outcome.run.ended_by == record::RunEnd::preempted
                                       ? "The provider reclaims this machine"
                                   : outcome.out_of_time ? "The time limit is over"
                                                         : "Interrupted",
                                   missing == 0 ? ""
                                                : fmt::format("{} case{} not measured; ", missing,
                                                              missing == 1 ? " was" : "s were")),
                       0, terminal.width) +
              '\n');
    else if (exit_code(outcome, options.fail_on) == ExitCode::environment)
        print("Workers could not be started: the same command with --resume tries again.\n");
}

/// Before anything is measured; a suite with stages keeps it in its record, for the verdict.
Result<void> check_machine(const Options& options, const plan::Plan& plan) {
    if (!options.watch_preemption.empty())
        ASSAY_TRY(process::PreemptionWatch::check(options.watch_preemption));
    if (options.expected.empty()) return {};
    if (plan.has_stages) {
        for (const auto& expectation : options.expected) ASSAY_TRY(decide::unmet({}, expectation));
        return {};
    }
    return decide::check_expectations(machine::inspect({.core_clock = false}), options.expected);
}

/// Not of a run that somebody ended, or whose workers could not be started.
bool has_verdict(const run::Outcome& outcome, ExitCode code) {
    return (code != ExitCode::interrupted || outcome.out_of_time) &&
           (code != ExitCode::environment || lacks_part(outcome.run));
}

/// For workers. Not what a shell has set long ago: an option is consent, a variable is not.
void allow_devices(const std::vector<std::string>& devices) {
    constexpr const char* variable = "ASSAY_ALLOW_DEVICE";
    const auto list = fmt::format("{}", fmt::join(devices, ":"));
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there is a second thread
    list.empty() ? ::unsetenv(variable) : ::setenv(variable, list.c_str(), 1);
}

} // namespace

ExitCode run(const Options& options) {
    allow_devices(options.allowed_devices);
    const auto catalogue = full_catalogue();
    if (const auto checked = check_problems(catalogue); !checked) return report(checked.error());
    const auto made = runs_of(catalogue, options);
    if (!made) return report(made.error());
    if (options.dry_run) {
        show_plan(*made, options);
        return ExitCode::done;
    }
    if (const auto met = check_machine(options, made->runs.front().plan); !met)
        return report(met.error());
    // Whoever names no hardware does not ask for hardware that is not there.
    const bool asks = !options.devices.empty() || !options.job.hosts.empty();
    if (const auto remark = machine::id_remark(machine::Files{}); !remark.empty())
        print_error(fmt::format("note: {}\n", remark));
    if (!options.quiet)
        for (const auto& note : made->notes)
            if (asks || note != made->runs.front().plan.no_hardware)
                print_error(fmt::format("note: {}\n", note));
    const auto outcomes = [&] {
        ProgressLine progress{*made, options.quiet};
        run::RunOptions how = options;
        if (options.check && !options.replicas) // so many are wanted, whatever is decided
            how.judge = [&](const auto& so_far) { return judge_so_far(so_far, options.limits); };
        return run::run(made->runs, how, progress);
    }();
    if (!outcomes) return report(outcomes.error());
    if (outcomes->size() > 1) return show_outcomes(*made, *outcomes, options);
    const auto& outcome = outcomes->front();
    const auto reports =
        outcome.was_complete ? std::nullopt : write_reports(outcome.file, options.language);
    show_outcome(outcome, reports, options);
    if (options.open && reports) open_in_browser(reports->html);
    const auto code = exit_code(outcome, options.fail_on);
    if (!options.check || !has_verdict(outcome, code)) return code;
    if (!options.json) print("\n");
    const auto verdict = check_run(outcome.file, options.out, options.limits, options.language,
                                   options.json ? STDERR_FILENO : STDOUT_FILENO);
    return verdict == ExitCode::done && !options.fail_on.empty() ? code : verdict;
}

} // namespace assay::cli
