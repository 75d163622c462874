// SPDX-License-Identifier: Apache-2.0
#include "process/channel.hpp"

#include "process/start.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

namespace assay::harness {
namespace {

tl::unexpected<Error> system_failure(std::string_view what, int error) {
    return fail(fmt::format("cannot {}: {}", what, std::system_category().message(error)),
                Fault::environment);
}

/// A network may lose the other side silently: detected within half a minute.
void watch_network(int descriptor) {
    const auto set = [&](int level, int option, int value) {
        ::setsockopt(descriptor, level, option, &value, sizeof value);
    };
    constexpr int idle = 10;               // seconds without a word before asking
    constexpr int interval = 5;            // seconds between questions
    constexpr int questions = 4;           // without an answer: gone
    constexpr int unacknowledged = 30'000; // milliseconds
    constexpr int room = 1 << 20U;         // bytes: a welcome is sent without waiting
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(SOL_SOCKET, SO_SNDBUF, room);
    set(IPPROTO_TCP, TCP_KEEPIDLE, idle);
    set(IPPROTO_TCP, TCP_KEEPINTVL, interval);
    set(IPPROTO_TCP, TCP_KEEPCNT, questions);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, unacknowledged);
    set(IPPROTO_TCP, TCP_NODELAY, 1);
}

/// 0, or errno. The system would wait two minutes for a host that does not answer.
int connect_in_time(int descriptor, const Address& to) {
    constexpr int patience = 10'000; // milliseconds
    const auto* plain = reinterpret_cast<const sockaddr*>(&to.value);
    const int flags = ::fcntl(descriptor, F_GETFL);
    ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
    int error = ::connect(descriptor, plain, to.size) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
        socklen_t size = sizeof error;
        if (::poll(&ready, 1, patience) != 1)
            error = ETIMEDOUT;
        else if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = errno;
    }
    ::fcntl(descriptor, F_SETFL, flags);
    return error;
}

Result<void> send_all(int descriptor, std::string_view line, int flags) {
    std::string text{line};
    text += '\n';
    std::string_view rest{text};
    while (!rest.empty()) {
        // MSG_NOSIGNAL: a lost peer is an error here, and does not kill this process.
        const auto sent = ::send(descriptor, rest.data(), rest.size(), MSG_NOSIGNAL | flags);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return system_failure("send a message", errno);
        rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

} // namespace

Result<void> LineBuffer::feed(std::string_view bytes, std::vector<std::string>& lines) {
    while (true) {
        const auto end = bytes.find('\n');
        const auto length = std::min(end, bytes.size());
        if (pending_.size() + length > limit_)
            return fail(fmt::format("a message is longer than {} bytes", limit_), Fault::benchmark);
        pending_ += bytes.substr(0, length);
        if (end == std::string_view::npos) return {};
        lines.push_back(std::exchange(pending_, {}));
        bytes.remove_prefix(end + 1);
    }
}

// --- connections ----------------------------------------------------------------------------------

Result<Connection> Connection::open(std::string_view address) {
    if (address == inherited_address()) {
        Connection inherited{inherited_descriptor};
        int kind = 0;
        socklen_t size = sizeof kind;
        if (::getsockopt(inherited_descriptor, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 ||
            ::fcntl(inherited_descriptor, F_SETFD, FD_CLOEXEC) != 0)
            return system_failure("use the inherited connection", errno);
        return inherited;
    }
    const auto target = parse_address(address);
    if (!target)
        return fail(fmt::format("`{}` is not an address; it should be unix:@<name>, "
                                "tcp:<address>:<port> or {}",
                                address, inherited_address()));
    Connection connection{::socket(target->value.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!connection.descriptor_) return system_failure("open a socket", errno);
    if (const int error = connect_in_time(connection.descriptor(), *target); error != 0)
        return system_failure(fmt::format("connect to the parent at {}", address), error);
    if (!target->is_local()) watch_network(connection.descriptor());
    return connection;
}

Result<void> Connection::send(std::string_view line) const {
    return send_all(descriptor(), line, 0);
}

Result<void> Connection::send_at_once(std::string_view line) const {
    return send_all(descriptor(), line, MSG_DONTWAIT);
}

Result<bool> Connection::receive(std::vector<std::string>& lines) {
    std::array<char, std::size_t{64} << 10U> bytes;
    ssize_t got = 0;
    do {
        got = ::recv(descriptor(), bytes.data(), bytes.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno != ECONNRESET) return system_failure("receive a message", errno);
    if (got <= 0) return false;
    ASSAY_TRY(buffer_.feed({bytes.data(), static_cast<std::size_t>(got)}, lines));
    return true;
}

void Connection::shut() const { ::shutdown(descriptor(), SHUT_RDWR); }

std::string inherited_address() { return fmt::format("fd:{}", inherited_descriptor); }

Result<std::pair<Connection, Descriptor>> connection_pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return system_failure("open a socket", errno);
    return std::pair{Connection{ends[0]}, Descriptor{ends[1]}};
}

// --- the parent's side ----------------------------------------------------------------------------

Result<Listener> Listener::open() { return open(*parse_address("unix:@assay-" + random_token())); }

Result<Listener> Listener::open(const Address& own) {
    const int descriptor =
        ::socket(own.value.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return system_failure("open a socket", errno);
    Listener listener{descriptor};
    // All ranks of a team connect at once; a full queue would make them wait.
    constexpr int waiting = 1024;
    Address bound;
    bound.size = sizeof bound.value;
    if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&own.value), own.size) != 0 ||
        ::listen(descriptor, waiting) != 0 ||
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound.value), &bound.size) != 0)
        return system_failure(fmt::format("listen at {}", to_text(own)), errno);
    listener.address_ = to_text(bound);
    listener.is_local_ = bound.is_local();
    return listener;
}

std::optional<Connection> Listener::accept() const {
    const int descriptor = ::accept4(descriptor_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return std::nullopt;
    Connection connection{descriptor, longest_greeting};
    if (!is_local_) {
        watch_network(descriptor);
        return connection; // its token identifies it
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != ::geteuid())
        return std::nullopt;
    return connection;
}

bool same_token(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    return difference == 0;
}

} // namespace assay::harness
