// SPDX-License-Identifier: Apache-2.0
#include "peer.hpp"

#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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

} // namespace assay::gpu
