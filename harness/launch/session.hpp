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

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::harness {

class Session {
public:
    /// `welcome`: told to every process that connects. An error of the environment says what is missing here, a launcher
    /// or a way to a host; Fault::benchmark, that the system did not let us start the worker: another try may succeed.
    static Result<std::unique_ptr<Session>> start(LaunchRequest request, message::Welcome welcome);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    Session(Session&&) = delete;
    Session& operator=(Session&&) = delete;
    ~Session();

    /// A case with one replica, whose status says how the worker ended if it did not answer; without one
    /// if it was skipped or interrupted.
    message::Result measure(const message::Measure& request, const Watch& watch);
    /// Ends the worker. Neither facts nor a problem when the run is to stop.
    message::Facts facts(const std::string& module, const Watch& watch);
    /// Lets the worker end by itself, and kills it if it does not. Names processes that cannot be killed.
    std::vector<std::string> stop();
    bool alive() const { return alive_; }
    const std::vector<std::string>& environment() const { return environment_; }
    /// Of the program; "" before a worker has said hello.
    const std::string& build() const { return build_; }
    /// What the hosts of a team said of themselves, by name.
    const std::vector<record::TeamHost>& hosts() const { return hosts_; }

private:
    struct Peer {
        Connection connection;
        std::chrono::steady_clock::time_point since{}; ///< of the connection
        int rank = -1;                                 ///< -1: has not said hello
        std::string machine;                           ///< of a team on several hosts
        std::string state; ///< of its main thread, when it was last asked; "": it never said
        std::size_t lines = 0;
        bool closed = false;
    };

    /// Either a listener or the connection of a process that inherited it.
    Session(std::optional<Listener> listener, Process process, const LaunchRequest& request,
            message::Welcome welcome);
    template <class T>
    std::optional<T> ask(const message::ToWorker& request, Waiting& waiting);
    void run(Waiting& waiting);
    void wait_for_events(Waiting& waiting);
    void accept();
    void read(Waiting& waiting);
    void read_peer(Waiting& waiting, Peer& peer);
    Result<void> take(Waiting& waiting, Peer& peer, const std::string& line);
    void add_host(std::string name, record::Machine machine);
    Result<void> greet(Peer& peer, const message::Hello& hello);
    Result<void> compare(const Peer& peer, const message::Hello& hello) const;
    bool look_for_late_ranks(Waiting& waiting);
    void give_up_in_time(Waiting& waiting);
    std::string culprits(Waiting& waiting);
    std::string missing_ranks() const;
    std::string silent_hosts() const;
    std::string name_of(int rank) const;
    record::Values values_of(int rank) const;
    void look_for_the_end(Waiting& waiting);
    /// A conclusion without a code: the worker cannot be used.
    void end(Waiting& waiting, record::Conclusion conclusion);

    std::optional<Listener> listener_; ///< for processes that another program starts
    Process process_;
    std::string token_;
    Placement placement_;
    bool by_proxy_; ///< another program starts the worker, and reports its end
    message::Welcome welcome_;
    std::vector<Peer> peers_;
    std::vector<std::string> environment_;
    std::string request_; ///< the present one, for ranks that connect later
    std::vector<record::TeamHost> hosts_;
    int lost_ = -1;     ///< the rank whose connection closed first
    std::string build_; ///< of the program, which all must have; "": not known yet
    int build_of_ = -1; ///< the rank that said it; -1: earlier workers did
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    bool alive_ = true;
};

/// A module's facts about its libraries, from a worker started for this only.
message::Facts ask_facts(const Result<std::unique_ptr<Session>>& session, const std::string& module,
                         const Watch& watch = {});

} // namespace assay::harness
