// SPDX-License-Identifier: Apache-2.0
//
// Reports that the program `assay-report`, which lies beside this one, writes of a finished run.

#pragma once

#include "cli/options.hpp"
#include "run/run_folder.hpp"
#include "run/runner.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::cli {

struct Reports {
    std::filesystem::path html;
    std::filesystem::path markdown;
};
/// Beside the result; a warning on stderr where there is none.
std::optional<Reports> write_reports(const std::filesystem::path& file,
                                     const std::string& language);

/// A run and what people call it.
struct LabelledFile {
    std::string label;
    std::filesystem::path file;
};
/// Compares them on stdout (`shown`), and writes a page; the page's path, or nothing and a warning.
std::optional<std::filesystem::path> write_comparison(const std::vector<LabelledFile>& files,
                                                      bool shown, const std::string& language);

/// Where nobody looks at a display there is nothing to open; the path was printed.
void open_in_browser(const std::filesystem::path& page);

} // namespace assay::cli
