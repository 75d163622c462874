// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include "cli/summary.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace assay::cli {

ProgressLine::ProgressLine(const harness::Interleaving& turns, bool quiet)
    : turns_{turns}, quiet_{quiet}, terminal_{terminal_of(STDERR_FILENO)} {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
    if (std::exchange(shown_, false)) overwrite_line("");
}

void ProgressLine::started(const std::filesystem::path& folder, bool resumed,
                           const std::string& variant) {
    if (quiet_) return;
    const auto& plan = turns_.runs.front().plan;
    if (++started_ == 1)
        print_error(fmt::format("{}: {} cases x {}, about {} (min:s)\n", plan.suite,
                                plan.cases.size(),
                                variant.empty() ? fmt::format("{} replicas", plan.replicas)
                                                : fmt::format("{} variants x {} pairs",
                                                              turns_.runs.size(), plan.replicas),
                                clock_text(turns_.expected_seconds)));
    print_error(fmt::format("{}{}{} {}\n", variant, variant.empty() ? "" : " ",
                            resumed ? "continuing" : "writing", folder.string()));
}

void ProgressLine::note(const std::string& text) {
    if (!quiet_) print_error(fmt::format("note: {}\n", text));
}

/// In a log, which is nobody's terminal, each line stays.
bool ProgressLine::is_due(const harness::Progress& progress) {
    constexpr std::chrono::seconds most{10};
    const auto now = std::chrono::steady_clock::now();
    std::tuple what{progress.case_index, progress.replica, progress.variant};
    if (what == said_ && now - said_at_ < most) return false;
    said_ = std::move(what);
    said_at_ = now;
    return true;
}

void ProgressLine::progress(const harness::Progress& progress) {
    const auto& plan = turns_.runs.front().plan;
    if (quiet_ || progress.case_index >= plan.cases.size()) return;
    if (!terminal_.present && !is_due(progress)) return;
    const auto& estimate = progress.estimate;
    const auto name = record::identity(harness::empty_case(plan.cases[progress.case_index]));
    const bool again = progress.replica > plan.replicas; // beyond those that were planned
    const auto turn =
        fmt::format("{} {}{}{}", progress.variant.empty() ? "replica" : "pair", progress.replica,
                    again ? "" : fmt::format(" of {}", plan.replicas),
                    progress.variant.empty() ? "" : " " + progress.variant);
    const auto line =
        fmt::format("{}/{}  {} left  {}  {}  {}", estimate.steps_done, estimate.steps_total,
                    clock_text(estimate.remaining_seconds), turn, progress.phase, name);
    if (!terminal_.present) return print_error(line + '\n');
    overwrite_line(cut(line, terminal_.width - 1)); // a full line would wrap
    shown_ = true;
}

void ProgressLine::finished(const record::Case& result, const std::string& variant) {
    ++finished_;
    if (quiet_ || terminal_.present) return;
    const auto row = summary_row(result);
    print_error(fmt::format("{}/{}  {}{}{}  {} {}  {}\n", finished_,
                            turns_.runs.size() * turns_.runs.front().plan.cases.size(), variant,
                            variant.empty() ? "" : ": ", row.name, row.value, row.interval,
                            row.status));
}

} // namespace assay::cli
