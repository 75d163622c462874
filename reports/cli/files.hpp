// SPDX-License-Identifier: Apache-2.0
//
// What every verb does with its output: to a file whole or not at all, or to stdout.

#pragma once

#include "base/console.hpp"
#include "base/result.hpp"
#include "base/terminal.hpp"
#include "document/document.hpp"
#include "options.hpp"
#include "report/input.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// To a file, or to stdout where the path is "-".
Result<void> write(const std::filesystem::path& path, std::string_view content);

/// What a verb can make of its result. Each is made when it is asked for.
struct Renderings {
    std::function<Result<std::string>()> html;
    std::function<Result<std::string>()> markdown;
    std::function<Result<std::string>()> workbook;
    std::function<Result<std::string>()> csv;
    std::function<std::string()> json;
    std::function<std::string()> terminal; ///< where nothing else was asked for
};
/// Writes the files that were asked for and shows the rest. None of them may be one of `inputs`.
Result<void> deliver(const Options& options, const Renderings& renderings,
                     const std::vector<Input>& inputs);

/// What a verb has found: as a document for every format that people read, and as data.
struct Outputs {
    std::vector<document::Document> documents;
    std::function<std::string()> json;
    std::function<std::string()> csv; ///< empty: there is none
};
Result<void> deliver(const Options& options, const Outputs& outputs,
                     const std::vector<Input>& inputs);

/// Of the terminal on stdout, as wide as is easy to read; without colour where there is none.
Terminal terminal_style();

} // namespace assay::report
