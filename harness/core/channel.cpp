// SPDX-License-Identifier: Apache-2.0
#include "core/channel.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <utility>

namespace assay::core {
namespace {

constexpr std::string_view scheme = "unix:@";

tl::unexpected<Error> system_failure(const char* what, int error) {
    return fail(fmt::format("cannot {}: {}", what, std::system_category().message(error)),
                Fault::environment);
}

struct Address {
    sockaddr_un value{};
    socklen_t size = 0;
};

/// An abstract name begins with NUL and needs no end.
std::optional<Address> abstract_address(std::string_view name) {
    Address address;
    address.value.sun_family = AF_UNIX;
    if (name.empty() || name.size() + 1 > sizeof address.value.sun_path) return std::nullopt;
    std::memcpy(address.value.sun_path + 1, name.data(), name.size());
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return address;
}

Result<void> send_all(int descriptor, std::string_view line, int flags) {
    std::string text{line};
    text += '\n';
    std::string_view rest{text};
    while (!rest.empty()) {
        // MSG_NOSIGNAL: a peer that has gone is an error here, not the end of this process.
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

Connection::Connection(Connection&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)}, buffer_{std::move(other.buffer_)} {}

Connection& Connection::operator=(Connection&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(buffer_, other.buffer_);
    return *this;
}

Connection::~Connection() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Connection> Connection::open(std::string_view address) {
    if (!address.starts_with(scheme))
        return fail(fmt::format("`{}` is no address; it should read {}<name>", address, scheme));
    const auto target = abstract_address(address.substr(scheme.size()));
    if (!target) return fail(fmt::format("`{}` is no address: its name is too long", address));
    Connection connection{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (connection.descriptor_ < 0) return system_failure("open a socket", errno);
    if (::connect(connection.descriptor_, reinterpret_cast<const sockaddr*>(&target->value),
                  target->size) != 0)
        return system_failure("connect to the parent", errno);
    return connection;
}

Result<void> Connection::send(std::string_view line) const {
    return send_all(descriptor_, line, 0);
}

Result<void> Connection::send_at_once(std::string_view line) const {
    return send_all(descriptor_, line, MSG_DONTWAIT);
}

Result<bool> Connection::receive(std::vector<std::string>& lines) {
    std::array<char, std::size_t{64} << 10U> bytes;
    ssize_t got = 0;
    do {
        got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno != ECONNRESET) return system_failure("receive a message", errno);
    if (got <= 0) return false;
    auto fed = buffer_.feed({bytes.data(), static_cast<std::size_t>(got)}, lines);
    if (!fed) return tl::unexpected{fed.error()};
    return true;
}

void Connection::shut() const { ::shutdown(descriptor_, SHUT_RDWR); }

// --- the parent's end -----------------------------------------------------------------------------

Listener::Listener(int descriptor, std::string address)
    : descriptor_{descriptor}, address_{std::move(address)} {}

Listener::Listener(Listener&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)}, address_{std::move(other.address_)} {}

Listener::~Listener() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Listener> Listener::open() {
    const auto name = "assay-" + random_token();
    const auto address = abstract_address(name);
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return system_failure("open a socket", errno);
    Listener listener{descriptor, std::string{scheme} + name};
    // All ranks of a team connect at once; a full queue would make them wait.
    constexpr int waiting = 1024;
    if (!address ||
        ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address->value), address->size) !=
            0 ||
        ::listen(descriptor, waiting) != 0)
        return system_failure("listen on a local socket", errno);
    return listener;
}

std::optional<Connection> Listener::accept() const {
    const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return std::nullopt;
    Connection connection{descriptor};
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != ::geteuid())
        return std::nullopt;
    return connection;
}

std::string random_token(std::size_t bytes) {
    std::string raw(bytes, '\0');
    std::size_t have = 0;
    while (have < bytes) {
        const auto got = ::getrandom(raw.data() + have, bytes - have, 0);
        if (got > 0) have += static_cast<std::size_t>(got);
    }
    std::string text;
    for (const char byte : raw) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

} // namespace assay::core
