// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include "cli/summary.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace assay::cli {

ProgressLine::ProgressLine(const core::Plan& plan, bool quiet)
    : plan_{plan}, quiet_{quiet}, terminal_{terminal_of(STDERR_FILENO)} {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
    if (!shown_) return;
    std::fputs("\r\x1b[K", stderr); // back to the first column, clear to the end
    std::fflush(stderr);
    shown_ = false;
}

void ProgressLine::started(const std::filesystem::path& folder, bool resumed) {
    if (quiet_) return;
    fmt::print(stderr, "{}: {} cases x {} replicas, about {} (min:s)\n{} {}\n", plan_.suite,
               plan_.cases.size(), plan_.replicas, clock_text(plan_.expected_seconds),
               resumed ? "continues" : "writes", folder.string());
}

void ProgressLine::progress(const core::Progress& progress) {
    if (quiet_ || !terminal_.present || progress.case_index >= plan_.cases.size()) return;
    const auto name = record::identity(core::empty_case(plan_.cases[progress.case_index]));
    const auto line =
        fmt::format("{}/{}  {} left  {}  {}", progress.steps_done, progress.steps_total,
                    clock_text(progress.remaining_seconds), progress.phase, name);
    clear();
    std::fputs(cut(line, terminal_.width - 1).c_str(), stderr); // a full line would wrap
    std::fflush(stderr);
    shown_ = true;
}

void ProgressLine::finished(const record::Case& result) {
    ++finished_;
    if (quiet_ || terminal_.present) return;
    const auto row = summary_row(result);
    fmt::print(stderr, "{}/{}  {}  {} {}  {}\n", finished_, plan_.cases.size(), row.name, row.value,
               row.interval, row.status);
}

} // namespace assay::cli
