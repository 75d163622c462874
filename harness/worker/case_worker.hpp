// SPDX-License-Identifier: Apache-2.0
//
// The measuring half of a worker: takes requests one at a time and answers each with one result,
// whatever the module reports. Without a socket, so that tests can call it directly.

#pragma once

#include "machine/nvml.hpp"
#include "process/message.hpp"
#include "record/model.hpp"
#include "telemetry/device.hpp"
#include "telemetry/window.hpp"
#include "worker/engine.hpp"
#include "worker/loaded_case.hpp"
#include "worker/module.hpp"
#include "worker/services.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::worker {

class CaseWorker {
public:
    /// Receivers of the messages during a case: its phase and warnings, and where it has got to.
    struct Reports {
        std::function<void(const process::message::Phase&)> phase;
        std::function<void(const process::message::Log&)> log;
        std::function<void(const process::message::Reached&)> reached{};
        /// Has the parent answered that? Waits for it at `ready`.
        std::function<bool(const process::message::Reached&)> may_proceed{};
    };

    /// `owner`: the process whose CPU time, and that of all below it, is not foreign; 0: this one's parent.
    CaseWorker(record::Machine machine, std::int64_t data_limit, std::string state_folder,
               Reports reports, JobFacts job = {}, int owner = 0);
    CaseWorker(const CaseWorker&) = delete;
    CaseWorker& operator=(const CaseWorker&) = delete;
    CaseWorker(CaseWorker&&) = delete;
    CaseWorker& operator=(CaseWorker&&) = delete;
    ~CaseWorker(); ///< leaves the team

    process::message::Result measure(const process::message::Measure& request);
    process::message::Facts facts(const process::message::AskFacts& request);

private:
    Result<const Module*> load(const std::string& path);
    Result<void> join(const Module& module, const assay_benchmark& benchmark);
    void attempt(const process::message::Measure& request, process::message::Result& result);
    void run_engine(const process::message::Measure& request, LoadedCase& subject,
                    worker::Clock& clock, process::message::Result& result);
    using Counts = std::vector<telemetry::LinkBytes>;
    static std::optional<telemetry::LinkWindow>
    watch_links(const process::message::Measure& request);
    struct Watched;
    Watched watched(const process::message::Measure& request, bool watches);
    static void add_work(LoadedCase& subject, process::message::Result& result);
    void prove_path(const Counts& counted, std::uint64_t calls, process::message::Result& result);
    record::Protocol protocol_of(const process::message::Measure& request);
    Team team() { return Team{services_.table()->team}; }
    worker::Hooks hooks(const process::message::Measure& request, telemetry::Window& window);
    void meet_siblings(const process::message::Measure& request, worker::Hooks& hooks);
    /// Ends the case alike on every rank: as the worst of them. True if all are ok.
    bool all_agree(record::Conclusion mine, process::message::Result& result);

    record::Machine machine_;
    Reports reports_;
    Services services_;
    std::map<std::string, Module> modules_;
    void (*leave_)() = nullptr;
    int owner_;
    bool device_is_warm_ = false;
    /// Kept open, because starting the library takes long and windows should begin quickly.
    std::optional<machine::Nvml> driver_;
};

} // namespace assay::worker
