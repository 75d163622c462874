// SPDX-License-Identifier: Apache-2.0
//
// Has one case measured once: by the current worker if it fits, otherwise by a new one. Plan and order
// are decided elsewhere.

#pragma once

#include "base/result.hpp"
#include "launch/placement.hpp"
#include "launch/session.hpp"
#include "plan/plan.hpp"
#include "process/scratch.hpp"
#include "record/model.hpp"
#include "run/tuning.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::harness {

/// The run is to stop: there is no result.
bool is_interrupted(const message::Result& attempt);

class Dispatcher {
public:
    Dispatcher(std::filesystem::path program, const record::Machine& machine, Watch watch,
               ExecutionContext context = {});

    /// The module's facts about its libraries, named <module>.<fact>. If the module cannot be asked,
    /// <module>.problem has the reason.
    record::NamedList facts(const Manifest& module, const std::filesystem::path& log);
    /// `replica` counts from 0. The result has one replica, or none if nothing was measured.
    message::Result measure(const PlannedCase& planned, const measure::Protocol& protocol,
                            int replica, const std::filesystem::path& log);
    /// A choice made by an earlier attempt of this run, or by a run interleaved with it.
    void adopt(const PlannedCase& planned, const record::NamedList& settings);
    /// Where modules may keep files from run to run.
    void keep_state_in(const std::filesystem::path& folder) { state_folder_ = folder; }
    /// Hosts that teams are spread over.
    void spread_over(const Job& job) { job_ = job; }
    /// The hosts that teams of this run were spread over, as they described themselves.
    const std::vector<record::TeamHost>& hosts() const { return hosts_; }
    /// Ends the current worker.
    void dismiss();

private:
    struct AtHand {
        std::string benchmark; ///< id and module
        Placement placement;
        std::unique_ptr<Session> session;
    };

    Result<Session*> session_for(const PlannedCase& planned, const Placement& placement,
                                 const std::filesystem::path& log);
    Result<std::unique_ptr<Session>> start(const Placement& placement,
                                           const std::filesystem::path& log);
    const TuningChoice& tune(const PlannedCase& planned, const measure::Protocol& protocol,
                             const std::filesystem::path& log);
    message::Result attempt(const PlannedCase& planned, const measure::Protocol& protocol,
                            int replica, const std::filesystem::path& log,
                            const record::NamedList& variables);
    const std::vector<int>& cpus_for(int threads, const std::string& near);

    std::filesystem::path program_;
    std::filesystem::path state_folder_;
    const record::Machine& machine_;
    Watch watch_;
    ExecutionContext context_;
    Job job_;
    std::vector<std::string> environment_; ///< inherited
    std::filesystem::path groups_;         ///< the control group of this process
    std::string build_;                    ///< of the program that workers ran
    std::optional<AtHand> at_hand_;
    std::vector<std::string> survivors_; ///< of earlier workers: a warning each
    std::map<std::pair<int, std::string>, std::vector<int>> cpus_; ///< by threads and device
    std::map<std::string, TuningChoice> choices_;                  ///< by tuning_group
    std::vector<record::TeamHost> hosts_;
    std::optional<Scratch> scratch_;
    std::uint64_t last_id_ = 0;
    bool interrupted_ = false;
};

} // namespace assay::harness
