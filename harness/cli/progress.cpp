// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include "cli/summary.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace assay::cli {

ProgressLine::ProgressLine(std::vector<const harness::Plan*> plans, bool quiet)
    : plans_{std::move(plans)}, quiet_{quiet}, terminal_{terminal_of(STDERR_FILENO)} {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
    if (!shown_) return;
    std::fputs("\r\x1b[K", stderr); // back to the first column, clear to the end
    std::fflush(stderr);
    shown_ = false;
}

void ProgressLine::started(const std::filesystem::path& folder, bool resumed,
                           const std::string& setting) {
    if (quiet_) return;
    const auto& plan = *plans_.front();
    double seconds = 0;
    for (const auto* each : plans_) seconds += each->expected_seconds;
    if (++started_ == 1)
        fmt::print(stderr, "{}: {} cases x {}, about {} (min:s)\n", plan.suite, plan.cases.size(),
                   setting.empty()
                       ? fmt::format("{} replicas", plan.replicas)
                       : fmt::format("{} variants x {} pairs", plans_.size(), plan.replicas),
                   clock_text(seconds));
    fmt::print(stderr, "{}{}{} {}\n", setting, setting.empty() ? "" : " ",
               resumed ? "continuing" : "writing", folder.string());
}

void ProgressLine::progress(const harness::Progress& progress) {
    const auto& plan = *plans_.front();
    if (quiet_ || !terminal_.present || progress.case_index >= plan.cases.size()) return;
    const auto& estimate = progress.estimate;
    const auto name = record::identity(harness::empty_case(plan.cases[progress.case_index]));
    const auto turn = progress.setting.empty() ? std::string{}
                                               : fmt::format("pair {}/{} {}  ", progress.replica,
                                                             plan.replicas, progress.setting);
    const auto line =
        fmt::format("{}/{}  {} left  {}{}  {}", estimate.steps_done, estimate.steps_total,
                    clock_text(estimate.remaining_seconds), turn, progress.phase, name);
    clear();
    std::fputs(cut(line, terminal_.width - 1).c_str(), stderr); // a full line would wrap
    std::fflush(stderr);
    shown_ = true;
}

void ProgressLine::finished(const record::Case& result, const std::string& setting) {
    ++finished_;
    if (quiet_ || terminal_.present) return;
    const auto row = summary_row(result);
    fmt::print(stderr, "{}/{}  {}{}{}  {} {}  {}\n", finished_,
               plans_.size() * plans_.front()->cases.size(), setting, setting.empty() ? "" : ": ",
               row.name, row.value, row.interval, row.status);
}

} // namespace assay::cli
