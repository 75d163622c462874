// SPDX-License-Identifier: Apache-2.0
//
// The messages between the parent and its workers: one JSON object per line, its kind in "type".
// A worker runs code that we did not write, so its messages are checked here before they count:
// parsing fails with an error text, never with an exception.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"
#include "record/protocol.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::process::message {

// --- parent to worker -----------------------------------------------------------------------------

/// The first message: the machine as the parent found it, so that all workers have the same one
/// whatever CPUs they are bound to.
struct Welcome {
    static constexpr std::string_view type = "welcome";
    record::Machine machine;
    std::string state_folder; ///< the fact of this name
    int ranks = 1;            ///< of the team
    int hosts = 0;            ///< that the team is spread over; 0: none but this one
    bool describe = false;    ///< the first rank of each host is to say what its machine is
};

struct Measure {
    static constexpr std::string_view type = "measure";
    std::uint64_t id = 0; ///< repeated in the answer
    std::string module;   ///< path of the module's library
    std::string build;    ///< that it must be: of its manifest, which has one; "": any
    std::string benchmark;
    record::NamedList parameters;
    record::Protocol protocol;
    int replica = 0;       ///< counted from 0, as in the record
    record::Place place{}; ///< where the case is measured: a device has its own clock and sensors
    std::vector<std::string> devices; ///< UUIDs of the devices of a benchmark of all devices
    std::string log;                  ///< file for the output of the case
    bool has_siblings = false;        ///< measured at once with cases of other workers: see Reached
    bool only_load = false;           ///< works beside its siblings, and is not measured
    std::string expected{}; ///< of a soak: the right result, by record::to_text; empty: not known
};

/// All siblings have reached that point, or are gone.
struct Proceed {
    static constexpr std::string_view type = "proceed";
    std::uint64_t id = 0;
    std::string point; ///< as in Reached
};

/// Asks for the module's facts about its libraries.
struct AskFacts {
    static constexpr std::string_view type = "ask_facts";
    std::uint64_t id = 0;
    std::string module;
};

struct Stop {
    static constexpr std::string_view type = "stop";
};

/// Answered at once, whatever the benchmark does.
struct Ping {
    static constexpr std::string_view type = "ping";
};

using ToWorker = std::variant<Welcome, Measure, Proceed, AskFacts, Stop, Ping>;

// --- worker to parent -----------------------------------------------------------------------------

struct Hello {
    static constexpr std::string_view type = "hello";
    std::string token;
    int rank = 0;
    std::int64_t pid = 0;
    std::string version; ///< of assay
    std::string build;   ///< of its program
    std::string machine; ///< changes with every boot, and differs between machines
};

/// The answer to a ping.
struct Pong {
    static constexpr std::string_view type = "pong";
    std::string state; ///< of the thread that measures, by the kernel's letter: "R", "S", "D", ...
};

/// The machine of the first rank of a host; sent once, if asked for.
struct Described {
    static constexpr std::string_view type = "described";
    record::Machine machine;
};

/// At every change of phase, and at most twice a second within one.
struct Phase {
    static constexpr std::string_view type = "phase";
    std::uint64_t id = 0;
    std::string phase;
};

/// Sent by a case with siblings. It waits at `ready`; at `measured` it goes on working, unmeasured, so that the last
/// one to measure is not alone.
struct Reached {
    static constexpr std::string_view type = "reached";
    std::uint64_t id = 0;
    std::string point;
};
/// Set up, checked, and about to warm up.
inline constexpr std::string_view ready = "ready";
/// Its window has ended.
inline constexpr std::string_view measured = "measured";

struct Log {
    static constexpr std::string_view type = "log";
    std::string text;
};

/// The result of one case in one process.
struct Result {
    static constexpr std::string_view type = "result";
    std::uint64_t id = 0;
    record::Case
        result; ///< with one replica, which the parent removes if it was skipped or interrupted
    std::vector<double> samples; ///< seconds per call of every batch, if the protocol keeps them
    std::string reference{};     ///< of a soak: what this process computed, as in Measure
    record::Replica& replica() { return result.replicas.front(); }
};

struct Facts {
    static constexpr std::string_view type = "facts";
    std::uint64_t id = 0;
    record::NamedList facts;
    std::string problem; ///< why there are none
};

/// A rank other than 0 has finished its part; `reason` is empty when all went well.
struct Done {
    static constexpr std::string_view type = "done";
    std::uint64_t id = 0;
    std::string reason;
    record::ReasonCode reason_code = record::ReasonCode::none;
    record::Values reason_values{};
};

using FromWorker = std::variant<Hello, Described, Phase, Reached, Log, Result, Facts, Done, Pong>;

std::string to_line(const ToWorker& message);
std::string to_line(const FromWorker& message);
assay::Result<ToWorker> parse_to_worker(std::string_view line);
assay::Result<FromWorker> parse_from_worker(std::string_view line);

} // namespace assay::process::message
