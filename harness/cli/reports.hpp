// SPDX-License-Identifier: Apache-2.0
//
// The program `assay-report` in the same folder: its verbs, and reports that it writes of a finished run.

#pragma once

#include "base/result.hpp"
#include "run/run_folder.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// Verbs of assay-report, which people may type after `assay` as well.
inline constexpr std::array<std::string_view, 15> report_verbs{
    "report",  "check", "fleet",   "limits",  "offers", "cost",   "capacity", "catalog",
    "compare", "diff",  "history", "predict", "import", "export", "verify"};
/// Replaces this program by assay-report in the same folder, with the same arguments. Returns only if
/// that fails.
ExitCode hand_over(const std::vector<std::string>& arguments);
bool is_report_verb(std::string_view name);
/// `assay diff A --this-machine`: replaces the option by a run without cases of this machine, in memory.
Result<void> add_this_machine(std::vector<std::string>& arguments);

struct Reports {
    std::filesystem::path html;
    std::filesystem::path markdown;
};
/// Beside the result; a warning on stderr if that fails.
std::optional<Reports> write_reports(const std::filesystem::path& file,
                                     const std::string& language);

/// The verdict on its machine by all runs of its campaign below `folder` and by these limits, on `output`, a
/// descriptor; and the exit code that goes with it.
ExitCode check_run(const std::filesystem::path& file, const std::filesystem::path& folder,
                   const std::vector<std::string>& limits, const std::string& language, int output);

/// The same judge's answers on the cases of a run that goes on, by this file with what was measured so far and by
/// earlier runs of its machine; nothing where it says nothing.
std::optional<run::Judgement> judge_so_far(const std::filesystem::path& so_far,
                                           const std::vector<std::string>& limits);

/// A run and its label.
struct LabelledFile {
    std::string label;
    std::filesystem::path file;
};
/// Compares them on stdout (`shown`), and writes a page; the page's path, or nothing and a warning.
std::optional<std::filesystem::path> write_comparison(const std::vector<LabelledFile>& files,
                                                      bool shown, const std::string& language);

/// Becomes this program, found in PATH; returns the code for why not.
ExitCode become(std::vector<std::string> arguments);

/// Does nothing without a display; the path was printed.
void open_in_browser(const std::filesystem::path& page);

} // namespace assay::cli
