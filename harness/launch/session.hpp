// SPDX-License-Identifier: Apache-2.0
//
// The parent's side of one worker: one process, or the ranks of one job. Sends one request at a time and
// always gets an answer: the worker's, or how the worker ended. After the latter the session is over and
// none of its processes is left.

#pragma once

#include "base/result.hpp"
#include "launch/launcher.hpp"
#include "launch/placement.hpp"
#include "launch/waiting.hpp"
#include "process/channel.hpp"
#include "process/message.hpp"
#include "process/process.hpp"
#include "record/model.hpp"

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::launch {

class Session {
public:
    /// `welcome`: told to every process that connects. An error of the environment says what
    /// is missing here, a launcher or a way to a host; Fault::benchmark, that the system did
    /// not let us start the worker: another try may succeed.
    static Result<std::unique_ptr<Session>> start(LaunchRequest request,
                                                  process::message::Welcome welcome);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    Session(Session&&) = delete;
    Session& operator=(Session&&) = delete;
    ~Session();

    /// To have a case measured, see measure_together() in siblings.hpp: begin(), then step() whenever one of watched()
    /// is readable or a heartbeat has passed, until is_over(), then answer().
    void begin(const process::message::Measure& request, const Watch& watch);
    void watched(std::vector<pollfd>& into) const;
    std::chrono::milliseconds patience() const;
    void step();
    // NOLINTBEGIN(bugprone-unchecked-optional-access): begin() came before
    bool is_over() const { return waiting_->status.has_value(); }
    /// The point that the case has reached; "" before the first.
    const std::string& reached() const { return waiting_->reached; }
    // NOLINTEND(bugprone-unchecked-optional-access)
    /// `has_time`: the case has its own limit again.
    void proceed(std::string_view point, bool has_time);
    void interrupt();
    /// A case with one replica, whose status says how the worker ended if it did not answer; without one
    /// if it was skipped or interrupted.
    process::message::Result answer();
    /// Ends the worker. Neither facts nor a problem when the run is to stop.
    process::message::Facts facts(const std::string& module, const Watch& watch);
    /// Lets the worker end by itself, and kills it if it does not. Names processes that cannot be killed.
    std::vector<std::string> stop();
    bool alive() const { return alive_; }
    const std::vector<std::string>& environment() const { return environment_; }
    /// Build id of the program; "" before a worker has said hello.
    const std::string& build() const { return build_; }
    /// The hosts of a team as they described themselves, by name.
    const std::vector<record::TeamHost>& hosts() const { return hosts_; }

private:
    struct Peer {
        process::Connection connection;
        std::chrono::steady_clock::time_point since{}; ///< of the connection
        int rank = -1;                                 ///< -1: has not said hello
        std::string machine;                           ///< of a team on several hosts
        std::string state; ///< of its main thread, when it was last asked; "": it never said
        std::size_t lines = 0;
        bool closed = false;
    };

    /// Either a listener or the connection of a process that inherited it.
    Session(std::optional<process::Listener> listener, process::Process process,
            const LaunchRequest& request, process::message::Welcome welcome);
    void send(const process::message::ToWorker& request);
    template <class T>
    std::optional<T> taken();
    void run();
    void wait_for_events();
    void accept();
    void read(Waiting& waiting);
    void read_peer(Waiting& waiting, Peer& peer);
    Result<void> take(Waiting& waiting, Peer& peer, const std::string& line);
    void add_host(std::string name, record::Machine machine);
    Result<void> greet(Peer& peer, const process::message::Hello& hello);
    Result<void> compare(const Peer& peer, const process::message::Hello& hello) const;
    bool look_for_late_ranks(Waiting& waiting);
    void give_up_in_time(Waiting& waiting);
    std::string culprits(Waiting& waiting);
    std::string missing_ranks() const;
    std::vector<int> ranks_here() const;
    std::string name_of(int rank) const;
    record::Values values_of(int rank) const;
    void look_for_the_end(Waiting& waiting);
    /// A conclusion without a code: the worker cannot be used.
    void end(Waiting& waiting, record::Conclusion conclusion);

    std::optional<process::Listener> listener_; ///< for processes that another program starts
    process::Process process_;
    std::string token_;
    Placement placement_;
    bool by_proxy_; ///< another program starts the worker, and reports its end
    process::message::Welcome welcome_;
    std::vector<Peer> peers_;
    std::vector<std::string> environment_;
    std::string request_;            ///< the present one, for ranks that connect later
    std::optional<Waiting> waiting_; ///< set by the first request
    process::message::Measure measured_;
    std::string begun_; ///< when
    std::vector<record::TeamHost> hosts_;
    int lost_ = -1;     ///< the rank whose connection closed first
    std::string build_; ///< of the program, which all must have; "": not known yet
    int build_of_ = -1; ///< the rank that said it; -1: earlier workers did
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    bool alive_ = true;
};

/// Until one of them has heard something, or a heartbeat has passed. False: the run is to stop.
bool wait_for_any(const std::vector<Session*>& sessions, const Watch& watch);

/// A module's facts about its libraries, from a worker started for this only.
process::message::Facts ask_facts(const Result<std::unique_ptr<Session>>& session,
                                  const std::string& module, const Watch& watch = {});

} // namespace assay::launch
