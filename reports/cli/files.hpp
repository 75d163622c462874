// SPDX-License-Identifier: Apache-2.0
//
// Output of every verb: to a file whole or not at all, or to stdout.

#pragma once

#include "base/console.hpp"
#include "base/result.hpp"
#include "base/terminal.hpp"
#include "document/document.hpp"
#include "exchange/data.hpp"
#include "options.hpp"
#include "store/collection.hpp"
#include "store/input.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reports_cli {

/// To a file, or to stdout where the path is "-".
Result<void> write(const std::filesystem::path& path, std::string_view content);

/// The same in parts.
Result<void> write(const std::filesystem::path& path, const Produce& produce);

/// Results of a verb: as documents for every format that people read, and as data. Each is made when it is asked for.
struct Outputs {
    std::function<std::vector<document::Document>()> documents;
    std::function<std::string()> json;
    std::function<std::string()> csv;     ///< empty: this verb writes none
    std::function<std::string()> brief{}; ///< on stdout in place of the document
    bool written = false;                 ///< files of its own: the document is shown only if asked
    Produce long_json{};                  ///< in place of `json`, in parts
};
/// Outputs of a result with a document, JSON and perhaps CSV; `more` is what else its document takes.
template <class Found, class... More>
Outputs outputs_of(const Found& found, const More&... more) {
    using exchange::to_csv;
    using exchange::to_json; // or that of its room
    Outputs outputs{.documents = [&] { return std::vector{make_document(found, more...)}; },
                    .json = [&] { return to_json(found); },
                    .csv = {}};
    if constexpr (requires { to_csv(found); }) outputs.csv = [&] { return to_csv(found); };
    return outputs;
}
/// Writes the files that were asked for and shows the rest. None of them may be one of `inputs`.
Result<void> deliver(const Options& options, const Outputs& outputs,
                     const std::vector<store::Input>& inputs);

/// Paths, or what has a file, as inputs that no output may replace.
template <class Files>
std::vector<store::Input> inputs_of(const Files& files) {
    std::vector<store::Input> inputs;
    for (const auto& one : files)
        if constexpr (requires { one.file; })
            inputs.push_back({.label = "", .file = one.file});
        else
            inputs.push_back({.label = "", .file = one});
    return inputs;
}

/// Nothing where there are no paths.
Result<std::optional<store::Collection>> collect_any(const std::vector<std::string>& paths,
                                                     const store::CollectOptions& options);

/// Seconds of --since; nothing where it was not given.
Result<std::optional<double>> since_of(const Options& options);

/// The terminal on stdout, as wide as is easy to read; without colour if it has none.
Terminal terminal_style();

} // namespace assay::reports_cli
