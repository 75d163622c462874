// SPDX-License-Identifier: Apache-2.0
//
// The results of a run, one line per case.

#pragma once

#include "base/result.hpp"
#include "cli/console.hpp"
#include "json/json.hpp"
#include "run/runner.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

namespace assay::cli {

struct SummaryRow {
    std::string name;
    std::string value;    ///< of the primary metric, "about 24 MB/s" if rough; "" if it has none
    std::string interval; ///< "±0.8%", the wider side; "" of a bound
    std::string ceiling;  ///< "97%"
    std::string status;
};
SummaryRow summary_row(const record::Case& c);

std::string summary_text(const record::Run& run, const Terminal& terminal);
/// Expected time of a run, and with all its patience spent on other programs.
struct TimeRange {
    double least = 0; ///< seconds
    double most = 0;
};
TimeRange time_of(const plan::Interleaving& turns);
/// "25 cases, 3 to 5 replicas each, about 55 s".
std::string size_in_words(const plan::Interleaving& turns);
/// Cases of a run that was stopped, without any replica; the text leaves them out.
std::size_t not_measured(const record::Run& run);

/// Names of statuses with which a case is not done: --fail-on.
using FailOn = std::vector<std::string>;
json::Value summary_json(const run::Outcome& outcome, const FailOn& fail_on);

/// Did the first stage find that an expected part is missing?
bool lacks_part(const record::Run& run);
ExitCode exit_code(const run::Outcome& outcome, const FailOn& fail_on);
/// Where both hold: the first of 2, 5, 1, 4, 3, 0.
ExitCode worse(ExitCode one, ExitCode other);

// --- progress ------------------------------------------------------------------------------------
// The progress of a run, on stderr: one line that is overwritten on a terminal; elsewhere a line for each replica, for
// each finished case, and at least every 10 s; nothing with --quiet.

class ProgressLine : public run::Observer {
public:
    ProgressLine(const plan::Interleaving& turns, bool quiet);
    ~ProgressLine() override;
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void started(const std::filesystem::path& folder, bool resumed,
                 const std::string& variant) override;
    void note(const std::string& text) override;
    void progress(const run::Progress& progress) override;
    void finished(const record::Case& result, const std::string& variant) override;

private:
    void clear();
    bool is_due(const run::Progress& progress);
    const plan::Interleaving& turns_;
    bool quiet_;
    Terminal terminal_;
    std::size_t started_ = 0;
    std::size_t finished_ = 0;
    bool shown_ = false;                             ///< a line on the screen must be overwritten
    std::tuple<std::size_t, int, std::string> said_; ///< case, replica, variant of the last line
    std::chrono::steady_clock::time_point said_at_;
};

} // namespace assay::cli
