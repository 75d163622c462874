// SPDX-License-Identifier: Apache-2.0
//
// Answers to the request that a session waits for.

#pragma once

#include "process/message.hpp"
#include "record/journal.hpp"
#include "record/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay::launch {

/// Callbacks of the parent while it waits.
struct Watch {
    std::function<void(const std::string&)> phase; ///< of the case, at every change
    std::function<void()> tick;                    ///< twice a second
    int signal_descriptor = -1;                    ///< becomes readable when the run shall stop
};

/// After one rank has given up or closed, the others get this long to say what they know.
inline constexpr std::chrono::seconds grace{5};

/// Longer than any limit of a sibling.
inline constexpr std::chrono::hours siblings_patience{24};

/// Connections that have not said who they are, and how long they may take.
inline constexpr int most_strangers = 64;
inline constexpr std::chrono::seconds stranger_patience{5};
/// A rank says hello right after it connects: for so long it cannot lose its place to later ones.
inline constexpr std::chrono::milliseconds stranger_grace{250};

/// Those that have had their time, or have closed, are gone.
template <class Peer>
void drop_strangers(std::vector<Peer>& peers, std::chrono::steady_clock::time_point now) {
    std::erase_if(peers, [&](const Peer& peer) {
        return peer.rank < 0 && (peer.closed || now - peer.since > stranger_patience);
    });
}

/// Full, and even the oldest has just come: others wait in the listener's queue.
template <class Peer>
bool is_full(const std::vector<Peer>& peers, std::chrono::steady_clock::time_point now) {
    return std::ranges::count(peers, -1, &Peer::rank) >= most_strangers &&
           now - std::ranges::find(peers, -1, &Peer::rank)->since < stranger_grace;
}

/// In place of the oldest where there are too many.
template <class Peer>
void add_stranger(std::vector<Peer>& peers, Peer stranger) {
    if (std::ranges::count(peers, -1, &Peer::rank) >= most_strangers)
        peers.erase(std::ranges::find(peers, -1, &Peer::rank));
    peers.push_back(std::move(stranger));
}

/// The phase before the first process has said hello.
inline constexpr std::string_view starting = "starting the worker";

/// The warning about a process that cannot be ended.
inline std::string survivor(const std::string& name) {
    return "a killed process still runs and disturbs the measurement: " + name;
}

/// Id of the request that the message answers, or 0.
inline std::uint64_t id_of(const process::message::FromWorker& message) {
    if (const auto* result = std::get_if<process::message::Result>(&message)) return result->id;
    const auto* facts = std::get_if<process::message::Facts>(&message);
    return facts == nullptr ? 0 : facts->id;
}

/// For what, until when, and what has come.
struct Waiting {
    std::uint64_t id = 0;
    const Watch& watch;
    std::chrono::steady_clock::time_point deadline;
    double limit_seconds = 0;
    int others = 0; ///< ranks beside 0 that will report

    std::string phase{starting};
    std::string reached; ///< of a case with siblings: how far it has got
    std::optional<process::message::FromWorker> answer;
    std::vector<std::string> warnings;
    std::optional<record::Conclusion> other; ///< why a rank other than 0 did not finish; the first
    std::optional<record::Status> status;    ///< set: over; ok: answered
    record::Conclusion conclusion;           ///< when over and not answered

    bool complete() const { return answer.has_value() && others == 0; }
    /// Rank 0 has answered and the others have not.
    record::Conclusion given_up() {
        record::Conclusion why{.code = record::ReasonCode::another_rank,
                               .reason = "the other ranks did not finish with rank 0"};
        auto* result = answer ? std::get_if<process::message::Result>(&*answer) : nullptr;
        if (result == nullptr || result->replica().reason.empty()) return why;
        why.reason = result->replica().reason;
        why.values = result->replica().reason_values;
        return why;
    }
    void hurry() { deadline = std::min(deadline, std::chrono::steady_clock::now() + grace); }

    void warn(std::string text) { record::add_warning(warnings, std::move(text)); }
    void see(const process::message::Phase& message) {
        if (message.id != id) return;
        phase = message.phase;
        if (watch.phase) watch.phase(phase);
    }
    /// It waits for its siblings now, each of which has a limit of its own. Points come in their order, once.
    void see(const process::message::Reached& message) {
        const auto next = reached.empty() ? process::message::ready : process::message::measured;
        if (message.id != id || message.point != next || reached == next) return;
        reached = message.point;
        deadline = std::chrono::steady_clock::now() + siblings_patience;
    }
    /// From now on it has its time again.
    void restart() {
        deadline = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(limit_seconds));
    }
    /// `who`: rank and host, as values.
    void see(process::message::Done done, const std::string& name, const record::Values& who) {
        if (done.id != id) return;
        others = std::max(others - 1, 0);
        if (done.reason.empty()) return;
        // A rank that only knows that another one gave up counts until that one reports.
        if (!other || other->code == record::ReasonCode::another_rank) {
            if (done.reason_code != record::ReasonCode::another_rank)
                done.reason_values.insert(done.reason_values.end(), who.begin(), who.end());
            other = {.code = done.reason_code,
                     .reason = fmt::format("{}: {}", name, done.reason),
                     .values = std::move(done.reason_values)};
        }
        hurry();
    }
    void take(process::message::FromWorker message) {
        if (id_of(message) != id) return; // an answer to something that was not asked
        answer = std::move(message);
        if (!complete()) hurry();
    }
};

} // namespace assay::launch
