// SPDX-License-Identifier: Apache-2.0
#include "launch/session.hpp"

#include "base/file.hpp"
#include "base/version.hpp"
#include "launch/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace assay::launch {
namespace {

using namespace std::chrono_literals;
using record::Conclusion;
using record::ReasonCode;
using record::Status;
using Steady = std::chrono::steady_clock;

/// A worker sends tens of lines for a request, and two a second; one that sends this many is broken.
constexpr std::size_t most_lines = 100'000;
/// Ranks of a launcher that is quick on its own machine may come from slow disks and by ssh on others.
constexpr auto start_patience = 60s;
/// A running process answers at once; the network needs time.
constexpr auto ping_patience = 1s;
/// A process that was asked to stop has nothing left to do but free its memory.
constexpr auto stop_patience = 3s;

/// Enough of a build's id to tell two apart.
std::string short_build(const std::string& build) {
    return build.empty() ? "unknown" : build.substr(0, 8);
}

} // namespace

Session::Session(std::optional<process::Listener> listener, process::Process process,
                 const LaunchRequest& request, process::message::Welcome welcome)
    : listener_{std::move(listener)}, process_{std::move(process)}, token_{request.token},
      placement_{request.placement}, by_proxy_{listener_.has_value()}, welcome_{std::move(welcome)},
      build_{request.build} {}

Result<std::unique_ptr<Session>> Session::start(LaunchRequest request,
                                                process::message::Welcome welcome) {
    const auto not_started = [](const Error& error) {
        return fail("the worker could not be started: " + error.message, Fault::benchmark);
    };
    std::optional<process::Listener> listener;
    std::optional<std::pair<process::Connection, Descriptor>> pair;
    if (!request.placement.launcher.empty() || !request.context.prefix.empty()) {
        auto opened = listener_for(request.placement);
        if (!opened && request.placement.hosts.empty()) return not_started(opened.error());
        if (!opened) return tl::unexpected{opened.error()};
        listener.emplace(std::move(*opened));
    } else {
        auto opened = process::connection_pair();
        if (!opened) return not_started(opened.error());
        pair.emplace(std::move(*opened));
    }
    request.address = listener ? listener->address() : process::inherited_address();
    request.token = random_token();
    ASSAY_TRY(auto command, launch_command(request));
    if (pair) command.connection = pair->second.get();
    auto process = process::Process::start(command);
    if (!process) return not_started(process.error());
    std::unique_ptr<Session> session{
        new Session{std::move(listener), std::move(*process), request, std::move(welcome)}};
    if (pair) session->peers_.push_back({.connection = std::move(pair->first)});
    session->environment_ = std::move(command.environment);
    return session;
}

Session::~Session() { process_.kill(); }

std::vector<std::string> Session::stop() {
    if (!alive_) return {};
    alive_ = false;
    for (auto& peer : peers_)
        if (peer.rank >= 0)
            (void)peer.connection.send_at_once(process::message::to_line(process::message::Stop{}));
    process_.wait(stop_patience);
    return process_.kill();
}

void Session::begin(const process::message::Measure& request, const Watch& watch) {
    measured_ = request;
    begun_ = utc_now();
    waiting_.emplace(Waiting{.id = request.id,
                             .watch = watch,
                             .limit_seconds = request.protocol.limit_seconds,
                             .others = placement_.ranks - 1});
    send(request);
}

void Session::proceed(std::string_view point, bool has_time) {
    if (has_time) waiting_->restart();
    for (auto& peer : peers_)
        if (peer.rank >= 0 &&
            !peer.connection.send_at_once(process::message::to_line(
                process::message::Proceed{.id = waiting_->id, .point = std::string{point}})))
            end(*waiting_, {.reason = "the worker does not read its requests"});
}

process::message::Result Session::answer() {
    auto& waiting = *waiting_;
    auto answer = taken<process::message::Result>().value_or(process::message::Result{});
    auto& c = answer.result;
    const bool answered = waiting.status == Status::ok;
    if (!answered) {
        c.replicas = {{.started = begun_}};
        record::set_conclusion(answer.replica(), std::move(waiting.conclusion));
    }
    // They use the machine until the worker ends; a launcher's children are the ranks.
    if (answered && !by_proxy_)
        for (const auto& name : process_.children())
            c.warnings.push_back("it left a process running: " + name);
    for (auto& warning : waiting.warnings) record::add_warning(c.warnings, std::move(warning));
    auto& replica = answer.replica();
    replica.index = measured_.replica;
    // Rank 0 only knows that another rank gave up.
    if (answered && waiting.other && replica.reason_code == ReasonCode::another_rank) {
        waiting.other->status = replica.status;
        record::set_conclusion(replica, *std::move(waiting.other));
    }
    // Such a case has no replicas; the reason is its own.
    if (replica.status == Status::skipped || waiting.status == Status::interrupted) {
        record::set_conclusion(c, record::conclusion(replica));
        c.replicas.clear();
    }
    return answer;
}

process::message::Facts Session::facts(const std::string& module, const Watch& watch) {
    // The slowest library known takes a few seconds to load.
    waiting_.emplace(Waiting{.id = 1, .watch = watch, .limit_seconds = 30});
    send(process::message::AskFacts{.id = 1, .module = module});
    run();
    auto answer = taken<process::message::Facts>();
    stop();
    if (answer) return std::move(*answer);
    return {.problem = waiting_->status == Status::interrupted ? "" : waiting_->conclusion.reason};
}

process::message::Facts ask_facts(const Result<std::unique_ptr<Session>>& session,
                                  const std::string& module, const Watch& watch) {
    return session ? (*session)->facts(module, watch)
                   : process::message::Facts{.problem = session.error().message};
}

void Session::send(const process::message::ToWorker& request) {
    auto& waiting = *waiting_;
    waiting.restart();
    request_ = process::message::to_line(request);
    for (auto& peer : peers_) peer.lines = 0;
    for (auto& peer : peers_)
        if (peer.rank >= 0 && !peer.connection.send_at_once(request_))
            end(waiting, {.reason = "the worker does not read its requests"});
    if (!alive_ && !waiting.status) end(waiting, {.reason = "the worker had already ended"});
}

template <class T>
std::optional<T> Session::taken() {
    auto& waiting = *waiting_;
    if (waiting.status != Status::ok) return {};
    if (auto* wanted = std::get_if<T>(&*waiting.answer)) return std::move(*wanted);
    end(waiting, {.reason = "the worker gave an unexpected answer"});
    return {};
}

void Session::run() {
    while (!is_over()) {
        wait_for_events();
        step();
    }
}

void Session::step() {
    auto& waiting = *waiting_;
    if (waiting.status) return;
    accept();
    read(waiting);
    if (waiting.complete()) {
        waiting.status = Status::ok;
    } else if (!waiting.status && Steady::now() >= waiting.deadline) {
        if (waiting.answer)
            end(waiting, waiting.given_up());
        else if (!waiting.other)
            give_up_in_time(waiting);
        else
            end(waiting, *waiting.other);
    } else if (!waiting.status && !look_for_late_ranks(waiting)) {
        look_for_the_end(waiting);
    }
}

void Session::watched(std::vector<pollfd>& into) const {
    const auto add = [&](int descriptor) {
        into.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
    };
    add(listener_ && !is_full(peers_, Steady::now()) ? listener_->descriptor() : -1);
    add(process_.descriptor());
    for (const auto& peer : peers_) add(peer.closed ? -1 : peer.connection.descriptor());
}

/// At most half a second, so that the user sees progress.
std::chrono::milliseconds Session::patience() const {
    constexpr auto heartbeat = 500ms;
    // If the kernel cannot signal the end of a process, poll for it.
    const auto longest = process_.descriptor() >= 0 ? heartbeat : 20ms;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(waiting_->deadline - Steady::now());
    return std::clamp<std::chrono::milliseconds>(left, 0ms, longest);
}

void Session::wait_for_events() {
    if (!wait_for_any({this}, waiting_->watch)) interrupt();
}

bool wait_for_any(const std::vector<Session*>& sessions, const Watch& watch) {
    std::vector<pollfd> all{{.fd = watch.signal_descriptor, .events = POLLIN, .revents = 0}};
    auto patience = std::chrono::milliseconds::max();
    for (const auto* session : sessions) {
        session->watched(all);
        patience = std::min(patience, session->patience());
    }
    const int ready = ::poll(all.data(), all.size(), static_cast<int>(patience.count()));
    if (ready == 0 && watch.tick) watch.tick();
    return ready <= 0 || all.front().revents == 0;
}

void Session::interrupt() {
    auto& waiting = *waiting_;
    if (waiting.status) return;
    end(waiting, {.status = Status::interrupted,
                  .code = ReasonCode::stopped,
                  .reason = fmt::format("stopped while {}", waiting.phase),
                  .values = {{"phase", waiting.phase}}});
}

// --- receiving ------------------------------------------------------------------------------------

/// At most as many at once as may wait: each has time to be heard before one that came later takes its place.
void Session::accept() {
    if (!listener_) return;
    const auto now = Steady::now();
    drop_strangers(peers_, now);
    for (int accepted = 0; accepted < most_strangers && !is_full(peers_, now); ++accepted) {
        auto connection = listener_->accept();
        if (!connection) return;
        add_stranger(peers_, {.connection = std::move(*connection), .since = now});
    }
}

/// Reads until nothing is left.
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
        return end(waiting, {.reason = "the worker sends too many messages"});
    for (const auto& line : lines) {
        if (const auto taken = take(waiting, peer, line); !taken) {
            // A stranger without the token is turned away; a worker is killed.
            if (peer.rank < 0 && listener_) break;
            return end(waiting, {.reason = taken.error().message});
        }
    }
    // Over a network, a lost peer is an error.
    if (!open && peer.rank >= 0 && placement_.hosts.empty())
        return end(waiting, {.reason = open.error().message});
    peer.closed = !open.value_or(false) || (peer.rank < 0 && !lines.empty());
    if (peer.closed && peer.rank >= 0 && lost_ < 0) lost_ = peer.rank;
}

Result<void> Session::take(Waiting& waiting, Peer& peer, const std::string& line) {
    auto message = process::message::parse_from_worker(line);
    if (!message) return tl::unexpected{message.error()};
    if (const auto* hello = std::get_if<process::message::Hello>(&*message)) {
        auto greeted = greet(peer, *hello);
        if (greeted && waiting.phase == starting) waiting.phase = "loading the module";
        return greeted;
    }
    if (const auto* result = std::get_if<process::message::Result>(&*message);
        result != nullptr && result->result.replicas.size() != 1)
        return fail("a result without exactly one replica", Fault::benchmark);
    if (peer.rank < 0) return fail("a message before hello", Fault::benchmark);
    if (auto* log = std::get_if<process::message::Log>(&*message))
        waiting.warn(std::move(log->text));
    else if (auto* described = std::get_if<process::message::Described>(&*message))
        add_host(host_of(placement_.hosts, peer.rank), std::move(described->machine));
    else if (const auto* phase = std::get_if<process::message::Phase>(&*message))
        waiting.see(*phase);
    else if (const auto* reached = std::get_if<process::message::Reached>(&*message)) {
        if (measured_.has_siblings) waiting.see(*reached);
    } else if (auto* done = std::get_if<process::message::Done>(&*message);
               done != nullptr && peer.rank != 0)
        waiting.see(std::move(*done), name_of(peer.rank), values_of(peer.rank));
    else if (const auto* pong = std::get_if<process::message::Pong>(&*message))
        peer.state = pong->state.substr(0, 1);
    else if (peer.rank == 0)
        waiting.take(std::move(*message));
    return {};
}

/// Each says it once.
void Session::add_host(std::string name, record::Machine machine) {
    if (std::ranges::find(hosts_, name, &record::TeamHost::name) == hosts_.end())
        hosts_.push_back({.name = std::move(name), .machine = std::move(machine)});
}

Result<void> Session::greet(Peer& peer, const process::message::Hello& hello) {
    const auto known = [&](const Peer& other) { return other.rank == hello.rank; };
    if (!process::same_token(hello.token, token_) || hello.rank < 0 ||
        hello.rank >= placement_.ranks || peer.rank >= 0 || std::ranges::any_of(peers_, known))
        return fail("an unexpected hello", Fault::benchmark);
    peer.rank = hello.rank;
    peer.lines = 0;
    peer.connection.trust();
    ASSAY_TRY(compare(peer, hello));
    peer.machine = hello.machine;
    if (build_.empty()) {
        build_ = hello.build;
        build_of_ = hello.rank;
    }
    auto sent = peer.connection.send_at_once(process::message::to_line(welcome_));
    if (sent) sent = peer.connection.send_at_once(request_);
    // On another host it may be gone already: its launcher reports why.
    return placement_.hosts.empty() ? sent : Result<void>{};
}

/// One program in the whole run, and every host once.
Result<void> Session::compare(const Peer& peer, const process::message::Hello& hello) const {
    const auto who = name_of(hello.rank);
    const char* const advice = placement_.hosts.empty()
                                   ? "assay was replaced during the run; start again"
                                   : "install the same assay at the same path on every host";
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
    const auto own = host_of(placement_.hosts, hello.rank);
    for (const auto& other : peers_) {
        if (other.rank < 0 || &other == &peer || other.machine != hello.machine) continue;
        if (const auto host = host_of(placement_.hosts, other.rank); host != own)
            return fail(fmt::format("{} and {} are the same machine; list it once", host, own),
                        Fault::benchmark);
    }
    return {};
}

std::string Session::name_of(int rank) const { return rank_words(placement_.hosts, rank); }

/// The same for programs.
record::Values Session::values_of(int rank) const {
    record::Values values{{"rank", std::int64_t{rank}}};
    if (!placement_.hosts.empty()) values.push_back({"host", host_of(placement_.hosts, rank)});
    return values;
}

std::vector<int> Session::ranks_here() const {
    std::vector<int> ranks;
    for (const auto& peer : peers_) ranks.push_back(peer.rank);
    return ranks;
}

std::string Session::missing_ranks() const {
    return launch::missing_ranks(placement_.hosts, placement_.ranks, ranks_here());
}

// --- ends -----------------------------------------------------------------------------------------

/// A launcher may wait forever for a host that is down.
bool Session::look_for_late_ranks(Waiting& waiting) {
    if (placement_.hosts.empty() || Steady::now() < started_ + start_patience) return false;
    const auto missing = missing_ranks();
    if (missing.empty()) return false;
    const auto ranks = missing + silent_hosts(placement_.hosts, ranks_here());
    end(waiting,
        {.status = Status::crashed,
         .code = ReasonCode::process_died,
         .reason = fmt::format("never started within {} s: {}", start_patience / 1s, ranks),
         .values = {{"start_seconds", std::int64_t{start_patience / 1s}}, {"ranks", ranks}}});
    return true;
}

/// The state of the ranks of a team that hangs: a rank waiting for a message polls, so one that sleeps does
/// something else, and one that does not answer has stopped or lost its host.
std::string Session::culprits(Waiting& waiting) {
    for (auto& peer : peers_) {
        peer.state.clear();
        if (peer.rank >= 0 && !peer.closed)
            (void)peer.connection.send_at_once(process::message::to_line(process::message::Ping{}));
    }
    const auto until = Steady::now() + ping_patience;
    const auto silent = [](const Peer& peer) { return peer.rank >= 0 && peer.state.empty(); };
    while (Steady::now() < until && !waiting.status && std::ranges::any_of(peers_, silent)) {
        waiting.deadline = until;
        wait_for_events();
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
                              : fmt::format("never started: {}{}", missing,
                                            silent_hosts(placement_.hosts, ranks_here()));
    }
    if (waiting.status) return;
    Conclusion late{.status = Status::timed_out,
                    .code = ReasonCode::time_limit,
                    .reason = fmt::format("time limit of {:g} s reached while {}",
                                          waiting.limit_seconds, waiting.phase),
                    .values = {{"limit_seconds", waiting.limit_seconds}, {"phase", waiting.phase}}};
    if (!who.empty()) {
        late.reason += "; " + who;
        late.values.push_back({"ranks", who});
    }
    end(waiting, std::move(late));
}

void Session::look_for_the_end(Waiting& waiting) {
    const auto gone = [](const Peer& peer) { return peer.rank >= 0 && peer.closed; };
    const bool lost = std::ranges::any_of(peers_, gone);
    if (!lost && !process_.poll()) return;
    // A launcher takes a while to notice a dead rank, and then knows how it died.
    if (lost) process_.wait(grace);
    // Messages that arrived between the last read and the end.
    accept();
    read(waiting);
    if (waiting.status) return;
    if (waiting.complete()) {
        waiting.status = Status::ok;
        return;
    }
    // Where a rank could not be started on a host, the launcher ends the others; its 132 is then no signal.
    const bool none = std::ranges::all_of(peers_, [](const Peer& peer) { return peer.rank < 0; });
    const bool far = !placement_.hosts.empty();
    if (process_.poll() && (none || (far && !missing_ranks().empty())))
        return end(waiting, early_death(*process_.poll(), by_proxy_ && !far));
    const bool knows_rank = placement_.ranks > 1 && lost_ >= 0;
    end(waiting,
        death(process_.poll(), by_proxy_, waiting.phase, knows_rank ? name_of(lost_) + " " : "",
              knows_rank ? values_of(lost_) : record::Values{}));
}

void Session::end(Waiting& waiting, Conclusion conclusion) {
    if (conclusion.code == ReasonCode::none) {
        conclusion.code = ReasonCode::no_worker;
        conclusion.values = {{"message", conclusion.reason}};
    }
    waiting.status = conclusion.status;
    waiting.conclusion = std::move(conclusion);
    alive_ = false;
    // Ranks on other hosts cannot be killed here: they end when their connection is gone.
    if (!placement_.hosts.empty())
        for (auto& peer : peers_) peer.connection.shut();
    for (const auto& name : process_.kill()) waiting.warn(survivor(name));
}

} // namespace assay::launch
