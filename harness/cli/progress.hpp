// SPDX-License-Identifier: Apache-2.0
//
// The progress of a run, on stderr: one line that is overwritten on a terminal; elsewhere a line for each replica, for
// each finished case, and at least every 10 s; nothing with --quiet.

#pragma once

#include "cli/console.hpp"
#include "run/runner.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <tuple>

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
    bool is_due(const harness::Progress& progress);
    const harness::Interleaving& turns_;
    bool quiet_;
    Terminal terminal_;
    std::size_t started_ = 0;
    std::size_t finished_ = 0;
    bool shown_ = false;                             ///< a line on the screen must be overwritten
    std::tuple<std::size_t, int, std::string> said_; ///< case, replica, variant of the last line
    std::chrono::steady_clock::time_point said_at_;
};

} // namespace assay::cli
