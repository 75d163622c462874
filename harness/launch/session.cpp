// SPDX-License-Identifier: Apache-2.0
#include "launch/session.hpp"

#include "base/file.hpp"
#include "base/version.hpp"
#include "launch/team.hpp"
#include "process/address.hpp"
#include "process/start.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>
#include <variant>

namespace assay::harness {
namespace {

using namespace std::chrono_literals;
using record::ReasonCode;
using record::Status;
using Steady = std::chrono::steady_clock;

/// A worker sends tens of lines per case; one that sends this many is out of its mind.
constexpr std::size_t most_lines = 100'000;
/// Ranks of a launcher that is quick on its own machine may come from slow disks and by ssh on others.
constexpr auto start_patience = 60s;
/// A process that still runs answers at once; a network needs its time.
constexpr auto ping_patience = 1s;
/// Connections that have not said who they are, and how long they may take.
constexpr int most_strangers = 64;
constexpr auto stranger_patience = 5s;
/// A process that was asked to stop has nothing left to do but free its memory.
constexpr auto stop_patience = 3s;

/// Enough of a build's id to tell two apart.
std::string short_build(const std::string& build) {
    return build.empty() ? "unknown" : build.substr(0, 8);
}

} // namespace

Session::Session(Listener listener, Process process, const LaunchRequest& request,
                 message::Welcome welcome)
    : listener_{std::move(listener)}, process_{std::move(process)}, token_{request.token},
      placement_{request.placement},
      by_proxy_{!request.placement.launcher.empty() || !request.context.prefix.empty()},
      welcome_{std::move(welcome)}, build_{request.build} {}

Result<std::unique_ptr<Session>> Session::start(LaunchRequest request, message::Welcome welcome) {
    const auto not_started = [](const Error& error) {
        return fail("the worker could not be started: " + error.message, Fault::benchmark);
    };
    auto listener = listener_for(request.placement);
    if (!listener && request.placement.hosts.empty()) return not_started(listener.error());
    if (!listener) return tl::unexpected{listener.error()};
    request.address = listener->address();
    request.token = random_token();
    auto command = launch_command(request);
    if (!command) return tl::unexpected{command.error()};
    auto process = Process::start(*command);
    if (!process) return not_started(process.error());
    std::unique_ptr<Session> session{
        new Session{std::move(*listener), std::move(*process), request, std::move(welcome)}};
    session->environment_ = std::move(command->environment);
    return session;
}

Session::~Session() { process_.kill(); }

void Session::stop() {
    if (!alive_) return;
    alive_ = false;
    for (auto& peer : peers_)
        if (peer.rank >= 0) (void)peer.connection.send_at_once(message::to_line(message::Stop{}));
    process_.wait(stop_patience);
    process_.kill();
}

message::Result Session::measure(const message::Measure& request, const Watch& watch) {
    Waiting waiting{.id = request.id,
                    .watch = watch,
                    .limit_seconds = request.protocol.limit_seconds,
                    .others = placement_.ranks - 1};
    const auto started = utc_now();
    auto answer = ask<message::Result>(request, waiting).value_or(message::Result{});
    auto& c = answer.result;
    const bool answered = waiting.status == Status::ok;
    if (!answered)
        c.replicas = {{.started = started,
                       .status = *waiting.status,
                       .reason = std::move(waiting.reason),
                       .reason_code = waiting.code}};
    // They use the machine until the worker ends; a launcher's children are the ranks.
    if (answered && !by_proxy_)
        for (const auto& name : process_.children()) waiting.warn("left a process behind: " + name);
    c.warnings = std::move(waiting.warnings);
    auto& replica = answer.replica();
    replica.index = request.replica;
    // Rank 0 only knows that somebody else gave up.
    if (answered && !waiting.other_reason.empty() &&
        replica.reason_code == ReasonCode::another_rank) {
        replica.reason = waiting.other_reason;
        replica.reason_code = waiting.other_code;
    }
    // Such a case has no replicas; its reason is its own.
    if (replica.status == Status::skipped || waiting.status == Status::interrupted) {
        c.status = replica.status;
        c.reason = std::move(replica.reason);
        c.reason_code = replica.reason_code;
        c.replicas.clear();
    }
    return answer;
}

message::Facts Session::facts(const std::string& module, const Watch& watch) {
    // Loading the slowest library known takes a few seconds.
    Waiting waiting{.id = 1, .watch = watch, .limit_seconds = 30};
    auto answer = ask<message::Facts>(message::AskFacts{.id = 1, .module = module}, waiting);
    stop();
    if (answer) return std::move(*answer);
    return {.problem = waiting.status == Status::interrupted ? "" : std::move(waiting.reason)};
}

message::Facts ask_facts(const Result<std::unique_ptr<Session>>& session, const std::string& module,
                         const Watch& watch) {
    return session ? (*session)->facts(module, watch)
                   : message::Facts{.problem = session.error().message};
}

template <class T>
std::optional<T> Session::ask(const message::ToWorker& request, Waiting& waiting) {
    waiting.deadline = Steady::now() + std::chrono::duration_cast<Steady::duration>(
                                           std::chrono::duration<double>(waiting.limit_seconds));
    request_ = message::to_line(request);
    for (auto& peer : peers_)
        if (peer.rank >= 0 && !peer.connection.send_at_once(request_))
            end(waiting, Status::failed, "the worker does not read its requests");
    run(waiting);
    if (waiting.status != Status::ok) return {};
    if (auto* wanted = std::get_if<T>(&*waiting.answer)) return std::move(*wanted);
    end(waiting, Status::failed, "the worker gave an unexpected answer");
    return {};
}

void Session::run(Waiting& waiting) {
    if (!alive_ && !waiting.status) end(waiting, Status::failed, "the worker had already ended");
    while (!waiting.status) {
        wait_for_events(waiting);
        accept();
        read(waiting);
        if (waiting.complete()) {
            waiting.status = Status::ok;
        } else if (!waiting.status && Steady::now() >= waiting.deadline) {
            if (waiting.answer)
                end(waiting, Status::failed, waiting.given_up(), ReasonCode::another_rank);
            else if (waiting.other_reason.empty())
                give_up_in_time(waiting);
            else
                end(waiting, Status::failed, waiting.other_reason, waiting.other_code);
        } else if (!waiting.status && !look_for_late_ranks(waiting)) {
            look_for_the_end(waiting);
        }
    }
}

/// At most half a second, so that the user sees time pass.
void Session::wait_for_events(Waiting& waiting) {
    constexpr auto heartbeat = 500ms;
    // Where the kernel cannot tell that a process has ended, we look.
    const auto longest = process_.descriptor() >= 0 ? heartbeat : 20ms;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(waiting.deadline - Steady::now());
    const auto patience = std::clamp<std::chrono::milliseconds>(left, 0ms, longest);

    std::vector<pollfd> watched{
        {.fd = listener_.descriptor(), .events = POLLIN, .revents = 0},
        {.fd = process_.descriptor(), .events = POLLIN, .revents = 0},
        {.fd = waiting.watch.signal_descriptor, .events = POLLIN, .revents = 0}};
    for (const auto& peer : peers_)
        watched.push_back({.fd = peer.closed ? -1 : peer.connection.descriptor(),
                           .events = POLLIN,
                           .revents = 0});
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(patience.count()));
    if (ready == 0 && waiting.watch.tick) waiting.watch.tick();
    if (ready > 0 && watched[2].revents != 0)
        end(waiting, Status::interrupted, fmt::format("stopped while {}", waiting.phase));
}

// --- hearing --------------------------------------------------------------------------------------

/// At most as many at once as may wait: each is heard before one that came later takes its place.
void Session::accept() {
    const auto now = Steady::now();
    std::erase_if(peers_, [&](const Peer& peer) {
        return peer.rank < 0 && (peer.closed || now - peer.since > stranger_patience);
    });
    for (int accepted = 0; accepted < most_strangers; ++accepted) {
        auto connection = listener_.accept();
        if (!connection) return;
        if (std::ranges::count(peers_, -1, &Peer::rank) >= most_strangers)
            peers_.erase(std::ranges::find(peers_, -1, &Peer::rank)); // the oldest
        peers_.push_back({.connection = std::move(*connection), .since = now});
    }
}

/// Reads what is there, until nothing is.
void Session::read(Waiting& waiting) {
    for (bool more = true; more && !waiting.status;) {
        more = false;
        for (auto& peer : peers_) {
            pollfd ready{.fd = peer.connection.descriptor(), .events = POLLIN, .revents = 0};
            if (peer.closed || waiting.status || ::poll(&ready, 1, 0) <= 0) continue;
            read_peer(waiting, peer);
            more = true;
        }
        if (waiting.complete()) return;
    }
}

void Session::read_peer(Waiting& waiting, Peer& peer) {
    std::vector<std::string> lines;
    const auto open = peer.connection.receive(lines);
    peer.lines += lines.size();
    if (peer.lines > most_lines)
        return end(waiting, Status::failed, "the worker floods its parent");
    for (const auto& line : lines) {
        if (const auto taken = take(waiting, peer, line); !taken) {
            // A stranger that does not know the token is turned away; a worker is ended.
            if (peer.rank < 0) break;
            return end(waiting, Status::failed, taken.error().message);
        }
    }
    // A network says that the other side is gone by an error.
    if (!open && peer.rank >= 0 && placement_.hosts.empty())
        return end(waiting, Status::failed, open.error().message);
    peer.closed = !open.value_or(false) || (peer.rank < 0 && !lines.empty());
    if (peer.closed && peer.rank >= 0 && lost_ < 0) lost_ = peer.rank;
}

Result<void> Session::take(Waiting& waiting, Peer& peer, const std::string& line) {
    auto message = message::parse_from_worker(line);
    if (!message) return tl::unexpected{message.error()};
    if (const auto* hello = std::get_if<message::Hello>(&*message)) return greet(peer, *hello);
    if (const auto* result = std::get_if<message::Result>(&*message);
        result != nullptr && result->result.replicas.size() != 1)
        return fail("a result that is not of one replica", Fault::benchmark);
    if (peer.rank < 0) return fail("a message before hello", Fault::benchmark);
    if (auto* log = std::get_if<message::Log>(&*message))
        waiting.warn(std::move(log->text));
    else if (const auto* phase = std::get_if<message::Phase>(&*message))
        waiting.see(*phase);
    else if (const auto* done = std::get_if<message::Done>(&*message))
        waiting.see(*done, peer.rank, name_of(peer.rank));
    else if (const auto* pong = std::get_if<message::Pong>(&*message))
        peer.state = pong->state.substr(0, 1);
    else if (peer.rank == 0)
        waiting.take(std::move(*message));
    return {};
}

Result<void> Session::greet(Peer& peer, const message::Hello& hello) {
    const auto known = [&](const Peer& other) { return other.rank == hello.rank; };
    if (!same_token(hello.token, token_) || hello.rank < 0 || hello.rank >= placement_.ranks ||
        peer.rank >= 0 || std::ranges::any_of(peers_, known))
        return fail("a hello that was not expected", Fault::benchmark);
    peer.rank = hello.rank;
    peer.lines = 0;
    peer.connection.trust();
    if (auto alike = compare(peer, hello); !alike) return alike;
    peer.machine = hello.machine;
    if (build_.empty()) {
        build_ = hello.build;
        build_of_ = hello.rank;
    }
    auto sent = peer.connection.send_at_once(message::to_line(welcome_));
    if (sent) sent = peer.connection.send_at_once(request_);
    // On another host it may have gone in the meantime: its launcher will say why.
    return placement_.hosts.empty() ? sent : Result<void>{};
}

/// One program in the whole run, and every host once.
Result<void> Session::compare(const Peer& peer, const message::Hello& hello) const {
    const auto who = name_of(hello.rank);
    const char* const advice = placement_.hosts.empty()
                                   ? "it was replaced during the run; start again"
                                   : "install the same one at the same path on every host";
    if (hello.version != version())
        return fail(fmt::format("{} runs assay {}, this is {}: {}", who,
                                hello.version.empty() ? "of an old version" : hello.version,
                                version(), advice),
                    Fault::benchmark);
    if (!build_.empty() && hello.build != build_)
        return fail(fmt::format("{} runs another build of assay ({}) than {} ({}): {}", who,
                                short_build(hello.build),
                                build_of_ < 0 ? "earlier workers" : name_of(build_of_),
                                short_build(build_), advice),
                    Fault::benchmark);
    if (placement_.hosts.empty()) return {};
    std::vector<int> counts;
    for (const auto& host : placement_.hosts) counts.push_back(host.ranks);
    for (const auto& other : peers_) {
        if (other.rank < 0 || &other == &peer || other.machine != hello.machine) continue;
        const auto a = place_of(counts, other.rank);
        const auto b = place_of(counts, hello.rank);
        if (a && b && a->host != b->host)
            return fail(fmt::format("{} and {} are one machine: name it once",
                                    placement_.hosts[a->host].label,
                                    placement_.hosts[b->host].label),
                        Fault::benchmark);
    }
    return {};
}

std::string Session::name_of(int rank) const {
    return placement_.hosts.empty() ? fmt::format("rank {}", rank)
                                    : rank_words(placement_.hosts, rank);
}

/// "rank 1 on node1, rank 3 on node3": those that have not said hello.
std::string Session::missing_ranks() const {
    constexpr int most_named = 8;
    std::string names;
    int missing = 0;
    for (int rank = 0; rank < placement_.ranks; ++rank) {
        if (std::ranges::find(peers_, rank, &Peer::rank) != peers_.end()) continue;
        if (++missing <= most_named)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(rank));
    }
    return missing > most_named ? fmt::format("{} and {} more", names, missing - most_named)
                                : names;
}

/// Of the hosts with missing ranks, those whose network says nothing: "; h2 does not answer ...".
std::string Session::silent_hosts() const {
    constexpr std::size_t most_asked = 8; // each may take a second
    std::string words;
    std::size_t asked = 0;
    int first = 0;
    for (const auto& host : placement_.hosts) {
        const auto is_here = [&](const Peer& peer) {
            return peer.rank >= first && peer.rank < first + host.ranks;
        };
        first += host.ranks;
        if (std::ranges::any_of(peers_, is_here) || asked++ >= most_asked) continue;
        if (!does_answer(host.name))
            words += fmt::format("; {} does not answer: is its network up?", host.label);
    }
    return words;
}

// --- ends -----------------------------------------------------------------------------------------

/// A launcher may wait for ever for a host that is not there.
bool Session::look_for_late_ranks(Waiting& waiting) {
    if (placement_.hosts.empty() || Steady::now() < started_ + start_patience) return false;
    const auto missing = missing_ranks();
    if (missing.empty()) return false;
    end(waiting, Status::crashed,
        fmt::format("never started within {} s: {}{}", start_patience / 1s, missing,
                    silent_hosts()));
    return true;
}

/// What the ranks of a team that hangs do: a rank that waits for a message looks for it all the time, so
/// one that sleeps does something else, and one that does not answer has stopped or lost its host.
std::string Session::culprits(Waiting& waiting) {
    for (auto& peer : peers_) {
        peer.state.clear();
        if (peer.rank >= 0 && !peer.closed)
            (void)peer.connection.send_at_once(message::to_line(message::Ping{}));
    }
    const auto until = Steady::now() + ping_patience;
    const auto silent = [](const Peer& peer) { return peer.rank >= 0 && peer.state.empty(); };
    while (Steady::now() < until && !waiting.status && std::ranges::any_of(peers_, silent)) {
        waiting.deadline = until;
        wait_for_events(waiting);
        read(waiting);
    }
    std::string names;
    const auto add = [&](const Peer& peer, const char* what) {
        names += fmt::format("{}{} {}", names.empty() ? "" : ", ", name_of(peer.rank), what);
    };
    const bool somebody_runs =
        std::ranges::any_of(peers_, [](const Peer& peer) { return peer.state == "R"; });
    for (const auto& peer : peers_) {
        if (silent(peer)) add(peer, "does not answer");
        if (somebody_runs && !silent(peer) && peer.rank >= 0 && peer.state != "R")
            add(peer, "sleeps");
    }
    return names;
}

void Session::give_up_in_time(Waiting& waiting) {
    std::string who;
    if (placement_.ranks > 1) {
        const auto missing = missing_ranks();
        who = missing.empty() ? culprits(waiting)
                              : fmt::format("never started: {}{}", missing, silent_hosts());
    }
    if (waiting.status) return;
    end(waiting, Status::timed_out,
        fmt::format("not done after {:g} s, while {}{}{}", waiting.limit_seconds, waiting.phase,
                    who.empty() ? "" : "; ", who));
}

void Session::look_for_the_end(Waiting& waiting) {
    const auto gone = [](const Peer& peer) { return peer.rank >= 0 && peer.closed; };
    const bool lost = std::ranges::any_of(peers_, gone);
    if (!lost && !process_.poll()) return;
    // A launcher takes its time to notice a dead rank, and then knows how it died.
    if (lost) process_.wait(grace);
    // What arrived between the last reading and the end.
    accept();
    read(waiting);
    if (waiting.status) return;
    if (waiting.complete()) {
        waiting.status = Status::ok;
        return;
    }
    end(waiting, Status::crashed, last_words(waiting));
}

std::string Session::last_words(const Waiting& waiting) {
    const auto& ending = process_.poll();
    const std::string who = placement_.ranks > 1 && lost_ >= 0 ? name_of(lost_) + " " : "";
    if (!ending) return fmt::format("{}closed its connection while {}", who, waiting.phase);
    // A launcher's exit code says by which signal a rank died: 128 + n, as a shell's does.
    constexpr int shell_offset = 128;
    const bool told = by_proxy_ && ending->code > shell_offset;
    const int signal = told ? ending->code - shell_offset : ending->signal;
    if (signal == 0)
        return fmt::format("{}ended with exit code {} in the middle of a case, while {}", who,
                           ending->code, waiting.phase);
    return fmt::format("{}killed by {}{} while {}", who, signal_words(signal),
                       signal == SIGKILL ? ", perhaps out of memory," : "", waiting.phase);
}

void Session::end(Waiting& waiting, Status status, std::string reason, ReasonCode code) {
    waiting.status = status;
    waiting.reason = std::move(reason);
    waiting.code = code != ReasonCode::none        ? code
                   : status == Status::crashed     ? ReasonCode::process_died
                   : status == Status::timed_out   ? ReasonCode::time_limit
                   : status == Status::interrupted ? ReasonCode::stopped
                                                   : ReasonCode::no_worker;
    alive_ = false;
    // Ranks on other hosts are nobody's that could be killed here: they end when nobody listens.
    if (!placement_.hosts.empty())
        for (auto& peer : peers_) peer.connection.shut();
    process_.kill();
}

} // namespace assay::harness
