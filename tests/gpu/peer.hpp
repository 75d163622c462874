// SPDX-License-Identifier: Apache-2.0
//
// torch_turns.py, kept alive between its turns: it reads requests from a pipe with a name and answers into its log.

#pragma once

#include "process/process.hpp"
#include "steps.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::gpu {

class Peer {
public:
    /// `arguments`: the interpreter and the script; files go to `folder`.
    static Result<Peer> start(std::vector<std::string> arguments,
                              std::vector<std::string> environment,
                              const std::filesystem::path& folder);
    Peer(Peer&& other) noexcept;
    Peer& operator=(Peer&&) = delete;
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    ~Peer();

    /// Empty: only listens, for what it says first.
    void ask(const std::string& request);
    /// The next line of JSON; nothing when it ended without one, or `go_on` says no.
    std::optional<std::string> answer(const std::function<bool()>& go_on);
    const std::filesystem::path& log() const { return log_; }

private:
    Peer(process::Process process, int requests, std::filesystem::path log)
        : process_{std::move(process)}, requests_{requests}, log_{std::move(log)} {}

    process::Process process_;
    int requests_ = -1;
    std::filesystem::path log_;
    std::size_t answers_ = 0; ///< that were read
};

/// Rates of one turn, in the headline's unit.
struct Rates {
    double single = 0;
    std::optional<double> back_to_back{}; ///< of a short call among many in a graph
};

/// Every peer has had one pair before any has two; who begins changes from round to round (A B, B A).
struct TakeTurns {
    std::vector<std::string> arguments; ///< of the peer; none where there is no interpreter
    std::vector<std::string> environment;
    std::filesystem::path folder;
    int pairs = 1; ///< at most
    std::function<bool()> go_on;
    std::function<Result<Rates>(const Turn&, int round)> ours;
    std::function<void(const Turn&, Verdict)> finish;
    std::function<void(const std::string&)> keep_log;
};
/// Adds to `ratios` as it goes.
void take_turns(const TakeTurns& how, std::vector<Ratio>& ratios);

} // namespace assay::gpu
