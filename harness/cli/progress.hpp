// SPDX-License-Identifier: Apache-2.0
//
// A run as it goes on, on stderr: one line that is written over on a terminal, one line for each
// finished case elsewhere, nothing when asked to be quiet.

#pragma once

#include "cli/console.hpp"
#include "core/runner.hpp"

#include <cstddef>
#include <filesystem>
#include <string>

namespace assay::cli {

class ProgressLine : public core::Observer {
public:
    ProgressLine(const core::Plan& plan, bool quiet);
    ~ProgressLine() override;
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void started(const std::filesystem::path& folder, bool resumed) override;
    void progress(const core::Progress& progress) override;
    void finished(const record::Case& result) override;

private:
    void clear();
    const core::Plan& plan_;
    bool quiet_;
    Terminal terminal_;
    std::size_t finished_ = 0;
    bool shown_ = false; ///< a line is on the screen that has to be written over
};

} // namespace assay::cli
