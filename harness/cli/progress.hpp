// SPDX-License-Identifier: Apache-2.0
//
// The progress of a run, on stderr: one line that is overwritten on a terminal, one line for each
// finished case elsewhere, nothing with --quiet.

#pragma once

#include "cli/console.hpp"
#include "run/runner.hpp"

#include <cstddef>
#include <filesystem>
#include <string>

namespace assay::cli {

class ProgressLine : public harness::Observer {
public:
    ProgressLine(const harness::Interleaving& turns, bool quiet);
    ~ProgressLine() override;
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void started(const std::filesystem::path& folder, bool resumed,
                 const std::string& variant) override;
    void note(const std::string& text) override;
    void progress(const harness::Progress& progress) override;
    void finished(const record::Case& result, const std::string& variant) override;

private:
    void clear();
    const harness::Interleaving& turns_;
    bool quiet_;
    Terminal terminal_;
    std::size_t started_ = 0;
    std::size_t finished_ = 0;
    bool shown_ = false; ///< a line on the screen must be overwritten
};

} // namespace assay::cli
