// SPDX-License-Identifier: Apache-2.0
#include "peer.hpp"

#include "base/file.hpp"
#include "json/json.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

namespace assay::gpu {
namespace {

/// Whole lines that begin as JSON does: warnings go to the same log.
std::optional<std::string> answer_number(std::size_t number, const std::string& log) {
    std::istringstream stream{log.substr(0, log.rfind('\n') + 1)};
    for (std::string line; std::getline(stream, line);)
        if (line.starts_with('{') && number-- == 0) return line;
    return std::nullopt;
}

} // namespace

Result<Peer> Peer::start(std::vector<std::string> arguments, std::vector<std::string> environment,
                         const std::filesystem::path& folder) {
    const auto pipe = folder / "requests";
    ::unlink(pipe.c_str());
    // Both ways, so that opening waits for nobody and writing finds a reader.
    const int requests = ::mkfifo(pipe.c_str(), 0600) == 0
                             ? ::open(pipe.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)
                             : -1;
    if (requests < 0)
        return fail(fmt::format("cannot make {}: {}", pipe.string(),
                                std::generic_category().message(errno)),
                    Fault::environment);
    arguments.push_back(pipe.string());
    auto process = process::Process::start({.arguments = std::move(arguments),
                                            .environment = std::move(environment),
                                            .cpus = {},
                                            .log = folder / "peer.txt",
                                            .mark = {}});
    if (!process) {
        ::close(requests);
        return tl::unexpected{process.error()};
    }
    return Peer{std::move(*process), requests, folder / "peer.txt"};
}

Peer::Peer(Peer&& other) noexcept
    : process_{std::move(other.process_)}, requests_{std::exchange(other.requests_, -1)},
      log_{std::move(other.log_)}, answers_{other.answers_} {}

Peer::~Peer() {
    if (requests_ >= 0) ::close(requests_);
}

void Peer::ask(const std::string& request) { write_all(requests_, request + '\n'); }

std::optional<std::string> Peer::answer(const std::function<bool()>& go_on) {
    constexpr std::size_t most = std::size_t{16} << 20U;
    while (true) {
        const bool ended = process_.wait(std::chrono::milliseconds{50}).has_value();
        if (auto line = answer_number(answers_, read_whole(log_, most).value_or(""))) {
            ++answers_;
            return line;
        }
        if (ended || !go_on()) return std::nullopt;
    }
}

// --- turns ----------------------------------------------------------------------------------------------------

namespace {

Ratio& ratio_of(const Turn& turn, std::vector<Ratio>& ratios) {
    const auto known = std::ranges::find(ratios, turn.name, &Ratio::name);
    if (known != ratios.end()) return *known;
    ratios.push_back({.name = turn.name, .unit = turn.unit, .ours = {}, .theirs = {}});
    return ratios.back();
}

Result<Rates> their_rates(Peer& peer, const Turn& turn, const TakeTurns& how) {
    peer.ask(turn.name);
    const auto line = peer.answer(how.go_on);
    const auto time = line ? read_peer(*line) : PeerTime{.problem = "PyTorch gave no answer"};
    if (!time.problem.empty()) return fail("PyTorch: " + time.problem);
    Rates rates{.single = turn.work / time.seconds};
    if (time.back_to_back) rates.back_to_back = turn.work / *time.back_to_back;
    return rates;
}

/// Adds a pair to the ratios and finishes their rows. Why there is no pair; empty where there is.
std::string pair(Peer& peer, const Turn& turn, int round, const TakeTurns& how,
                 std::vector<Ratio>& ratios) {
    Rates ours;
    Rates theirs;
    for (const bool is_ours : {round % 2 == 0, round % 2 != 0}) {
        const auto rates = is_ours ? how.ours(turn, round) : their_rates(peer, turn, how);
        if (!rates) return rates.error().message;
        (is_ours ? ours : theirs) = *rates;
    }
    const auto add = [&](const Turn& to, double our, double their) {
        auto& ratio = ratio_of(to, ratios);
        ratio.ours.push_back(our);
        ratio.theirs.push_back(their);
        how.finish(to, verdict_of(ratio));
    };
    add(turn, ours.single, theirs.single);
    if (ours.back_to_back && theirs.back_to_back) {
        Turn queued = turn;
        queued.name += ", back to back";
        add(queued, *ours.back_to_back, *theirs.back_to_back);
    }
    return {};
}

} // namespace

void take_turns(const TakeTurns& how, std::vector<Ratio>& ratios) {
    const auto all = turns();
    const auto nobody = [&](const std::string& why) {
        for (const auto& turn : all) how.finish(turn, {Outcome::missing, why});
    };
    if (how.arguments.empty()) return nobody("there is no python3 here");
    auto peer = Peer::start(how.arguments, how.environment, how.folder);
    if (!peer) return nobody(peer.error().message);
    constexpr std::size_t most = std::size_t{16} << 20U;
    const auto log = [&] { return read_whole(peer->log(), most).value_or(""); };
    const auto ready = peer->answer(how.go_on);
    how.keep_log(log());
    if (!ready) return nobody("PyTorch did not get ready: " + log().substr(0, 300));
    if (const auto said = json::parse(*ready, "the peer"); !said || said->contains("problem"))
        return nobody(read_peer(*ready).problem);
    std::set<std::string> hopeless;
    for (int round = 0; round < how.pairs; ++round)
        for (const auto& turn : all) {
            if (hopeless.contains(turn.name) || !how.go_on()) continue;
            const auto why = pair(*peer, turn, round, how, ratios);
            if (!why.empty() && how.go_on()) {
                hopeless.insert(turn.name);
                how.finish(turn, {Outcome::failed, why});
            }
        }
    how.keep_log(log());
}

} // namespace assay::gpu
