// SPDX-License-Identifier: Apache-2.0
//
// Has one case measured once, or several at once: by current workers if they fit, otherwise by new ones. Plan and order
// are decided elsewhere.

#pragma once

#include "base/result.hpp"
#include "launch/placement.hpp"
#include "launch/session.hpp"
#include "plan/plan.hpp"
#include "process/scratch.hpp"
#include "record/model.hpp"
#include "run/together.hpp"
#include "run/tuning.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::run {

/// The run is to stop: there is no result.
bool is_interrupted(const process::message::Result& attempt);

class Dispatcher {
public:
    Dispatcher(std::filesystem::path program, const record::Machine& machine, launch::Watch watch,
               launch::ExecutionContext context = {});

    /// The module's facts about its libraries, named <module>.<fact>. If the module cannot be asked,
    /// <module>.problem has the reason.
    record::NamedList facts(const plan::Manifest& module, const std::filesystem::path& log);
    /// All at once, beside their loads. Each result has one replica, or none if nothing was measured.
    std::vector<process::message::Result> measure(const std::vector<Errand>& errands);
    /// A choice made by an earlier attempt of this run, or by a run interleaved with it.
    void adopt(const plan::PlannedCase& planned, const record::NamedList& settings);
    /// Where modules may keep files from run to run.
    void keep_state_in(const std::filesystem::path& folder) { state_folder_ = folder; }
    /// Hosts that teams are spread over.
    void spread_over(const plan::Job& job) { job_ = job; }
    /// The hosts that teams of this run were spread over, as they described themselves.
    const std::vector<record::TeamHost>& hosts() const { return hosts_; }
    /// Build id of the program that workers ran; "" where none has begun.
    const std::string& build() const { return build_; }
    /// Ends the current workers.
    void dismiss();

private:
    struct AtHand {
        std::string benchmark; ///< id and module
        launch::Placement placement;
        std::unique_ptr<launch::Session> session;
    };

    /// One of the cases that are measured at once, from its place to its answer.
    struct Attempt {
        const Errand& errand;
        record::NamedList variables;
        bool only_load = false;
        record::Machine machine{}; ///< as large as its share
        process::message::Result result{};
        std::optional<launch::Placement> placement{}; ///< none: it is over
        launch::Session* session = nullptr;           ///< the same
        record::NamedList environment{};
    };

    void find_place(Attempt& attempt);
    void stop(std::unique_ptr<launch::Session>& session);
    void find_session(Attempt& attempt, AtHand& slot, std::size_t at_once);
    void find_sessions(std::vector<Attempt>& attempts);
    process::message::Measure request_for(const Attempt& attempt, bool has_siblings);
    void take(Attempt& attempt, process::message::Result answer);
    Result<std::unique_ptr<launch::Session>> start(record::Machine machine,
                                                   const launch::Placement& placement,
                                                   const std::filesystem::path& log,
                                                   std::size_t at_once = 1);
    const TuningChoice& tune(const Errand& errand);
    void measure(std::vector<Attempt>& attempts);
    const std::vector<int>& cpus_for(int threads, const std::string& near);

    std::filesystem::path program_;
    std::filesystem::path state_folder_;
    const record::Machine& machine_;
    launch::Watch watch_;
    launch::ExecutionContext context_;
    plan::Job job_;
    std::vector<std::string> environment_; ///< inherited
    std::filesystem::path groups_;         ///< the control group of this process
    std::string build_;                    ///< of the program that workers ran
    std::vector<AtHand> at_hand_;          ///< one, or as many as measure at once
    std::vector<std::string> survivors_;   ///< of earlier workers: a warning each
    std::map<std::pair<int, std::string>, std::vector<int>> cpus_; ///< by threads and device
    std::map<std::string, TuningChoice> choices_;                  ///< by tuning_group
    std::vector<record::TeamHost> hosts_;
    std::optional<process::Scratch> scratch_;
    std::uint64_t last_id_ = 0;
    bool interrupted_ = false;
};

} // namespace assay::run
