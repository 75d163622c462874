// SPDX-License-Identifier: Apache-2.0
#include "process/channel.hpp"

#include "process/start.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <system_error>

namespace assay::process {
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

/// 0, or errno, of a socket that does not block; patience in milliseconds.
int connect_within(int patience, int descriptor, const sockaddr* to, socklen_t size_of_address) {
    int error = ::connect(descriptor, to, size_of_address) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
        socklen_t size = sizeof error;
        if (::poll(&ready, 1, patience) != 1)
            error = ETIMEDOUT;
        else if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = errno;
    }
    return error;
}

/// 0, or errno. The system would wait two minutes for a host that does not answer.
int connect_in_time(int descriptor, const Address& to) {
    constexpr int patience = 10'000; // milliseconds
    const auto* plain = reinterpret_cast<const sockaddr*>(&to.value);
    const int flags = ::fcntl(descriptor, F_GETFL);
    ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
    const int error = connect_within(patience, descriptor, plain, to.size);
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
        return fail(fmt::format("invalid address `{}` (expected unix:@<name>, "
                                "tcp:<address>:<port> or {})",
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

// --- address -------------------------------------------------------------------------------------

namespace {

constexpr std::string_view local_scheme = "unix:@";
constexpr std::string_view network_scheme = "tcp:";

/// An abstract name begins with NUL and has no terminator.
std::optional<Address> local_address(std::string_view name) {
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    if (name.empty() || name.size() + 1 > sizeof local.sun_path) return std::nullopt;
    std::memcpy(local.sun_path + 1, name.data(), name.size());
    Address address;
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    std::memcpy(&address.value, &local, address.size);
    return address;
}

template <class Socket>
Address address_of(const Socket& to) {
    Address address;
    address.size = sizeof to;
    std::memcpy(&address.value, &to, sizeof to);
    return address;
}

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return port;
}

std::optional<Address> network_address(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    const auto port = port_of(text.substr(colon + 1));
    std::string host{text.substr(0, colon)};
    const bool six = host.starts_with('[') && host.ends_with(']');
    if (six) host = host.substr(1, host.size() - 2);
    if (!port) return std::nullopt;
    if (six) {
        sockaddr_in6 to{};
        to.sin6_family = AF_INET6;
        to.sin6_port = ::htons(*port);
        if (::inet_pton(AF_INET6, host.c_str(), &to.sin6_addr) != 1) return std::nullopt;
        return address_of(to);
    }
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = ::htons(*port);
    if (::inet_pton(AF_INET, host.c_str(), &to.sin_addr) != 1) return std::nullopt;
    return address_of(to);
}

using Found = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Found> look_up(const std::string& host) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    constexpr const char* any_port = "9"; // nothing is sent there
    const int code = ::getaddrinfo(host.c_str(), any_port, &wanted, &found);
    if (code == EAI_AGAIN)
        return fail(fmt::format("no DNS server answers for host {}", host), Fault::environment);
    if (code != 0) return fail(fmt::format("unknown host {}: {}", host, ::gai_strerror(code)));
    return Found{found, &::freeaddrinfo};
}

std::string numeric(const sockaddr* address, socklen_t size) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
        return {};
    return text.data();
}

/// Connecting a datagram socket sends nothing, and makes the kernel choose the route. 0, or errno.
int choose_way(const addrinfo& to, Address& own) {
    const int descriptor = ::socket(to.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int error = 0;
    own.size = sizeof own.value;
    auto* mine = reinterpret_cast<sockaddr*>(&own.value);
    if (::connect(descriptor, to.ai_addr, to.ai_addrlen) != 0 ||
        ::getsockname(descriptor, mine, &own.size) != 0)
        error = errno;
    ::close(descriptor);
    if (own.value.ss_family == AF_INET) reinterpret_cast<sockaddr_in*>(mine)->sin_port = 0;
    if (own.value.ss_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(mine)->sin6_port = 0;
    return error;
}

/// errno of a connection attempt of at most a second.
int try_to_connect(const addrinfo& to) {
    const int descriptor =
        ::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (descriptor < 0) return errno;
    constexpr int patience = 1000;
    const int error = connect_within(patience, descriptor, to.ai_addr, to.ai_addrlen);
    ::close(descriptor);
    return error;
}

} // namespace

std::optional<Address> parse_address(std::string_view text) {
    if (text.starts_with(local_scheme)) return local_address(text.substr(local_scheme.size()));
    if (text.starts_with(network_scheme))
        return network_address(text.substr(network_scheme.size()));
    return std::nullopt;
}

std::string to_text(const Address& address) {
    if (address.is_local()) {
        const auto* local = reinterpret_cast<const sockaddr_un*>(&address.value);
        const auto length = address.size - offsetof(sockaddr_un, sun_path) - 1;
        return fmt::format("{}{}", local_scheme, std::string_view{local->sun_path + 1, length});
    }
    const auto* plain = reinterpret_cast<const sockaddr*>(&address.value);
    const auto host = numeric(plain, address.size);
    if (address.value.ss_family == AF_INET6) {
        const auto* six = reinterpret_cast<const sockaddr_in6*>(&address.value);
        return fmt::format("{}[{}]:{}", network_scheme, host, ::ntohs(six->sin6_port));
    }
    const auto* four = reinterpret_cast<const sockaddr_in*>(&address.value);
    return fmt::format("{}{}:{}", network_scheme, host, ::ntohs(four->sin_port));
}

Result<Address> own_address_towards(const std::string& host) {
    ASSAY_TRY(const auto found, look_up(host));
    int error = 0;
    for (const addrinfo* to = found.get(); to != nullptr; to = to->ai_next) {
        Address own;
        error = choose_way(*to, own);
        if (error == 0) return own;
    }
    return fail(fmt::format("no route to host {} ({}): {}", host,
                            numeric(found->ai_addr, found->ai_addrlen),
                            std::system_category().message(error)),
                Fault::environment);
}

Result<std::string> numeric_address(const std::string& host) {
    ASSAY_TRY(const auto found, look_up(host));
    return numeric(found->ai_addr, found->ai_addrlen);
}

bool does_answer(const std::string& host) {
    const auto found = look_up(host);
    if (!found) return false;
    const int error = try_to_connect(**found);
    return error == 0 || error == ECONNREFUSED;
}

} // namespace assay::process
