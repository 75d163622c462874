// SPDX-License-Identifier: Apache-2.0
//
// Plans made of the modules `trouble` and `trouble_team`, for tests that run real processes.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "plan/plan.hpp"
#include "run/runner.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace assay::trouble_test {

/// A manifest lives as long as the plans made from it.
struct Trouble {
    std::unique_ptr<plan::Manifest> manifest;
    /// `what` of each case; sizes count up, so that equal ones are different cases.
    plan::Plan plan(const std::vector<std::string>& what, int replicas = 1) const;
    /// All of them at once, each on its part of the CPUs.
    plan::Plan together(const std::vector<std::string>& what, int replicas = 1) const;
    /// Calls of `trouble.soaker` for so many seconds, by two parts of the machine at the same time or by one case.
    plan::Plan soak(const std::string& what, std::int64_t every, double seconds,
                    std::size_t parts = 1) const;
    /// The same by variants that take turns.
    std::vector<plan::PlannedRun> turns(const std::vector<std::string>& what,
                                        const std::vector<std::string>& variants, int pairs) const;
};
/// Loads the module and asks it, in this process: nothing in it runs.
Trouble load_trouble(const std::filesystem::path& module);

/// 10 ms of measuring a case; a hang is over after `limit` seconds.
record::Protocol fast_protocol(double limit_seconds = 20);

/// A run by itself.
Result<run::Outcome> run(const plan::Plan& plan, const run::RunOptions& options,
                         run::Observer& observer);

class Silent : public run::Observer {
public:
    void started(const std::filesystem::path& where, bool again,
                 const std::string& /*variant*/) override {
        folder = where;
        resumed = again;
    }
    void note(const std::string& text) override { said = text; }
    void progress(const run::Progress& progress) override { last = progress; }
    void finished(const record::Case& result, const std::string& /*variant*/) override {
        finished_cases.push_back(result);
    }

    std::filesystem::path folder;
    bool resumed = false;
    std::string said;
    run::Progress last;
    std::vector<record::Case> finished_cases;
};

using Folder = made::TemporaryFolder;

} // namespace assay::trouble_test
