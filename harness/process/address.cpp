// SPDX-License-Identifier: Apache-2.0
#include "process/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <system_error>

namespace assay::harness {
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
    Address address;
    if (six) {
        sockaddr_in6 to{};
        to.sin6_family = AF_INET6;
        to.sin6_port = ::htons(*port);
        if (::inet_pton(AF_INET6, host.c_str(), &to.sin6_addr) != 1) return std::nullopt;
        address.size = sizeof to;
        std::memcpy(&address.value, &to, sizeof to);
        return address;
    }
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = ::htons(*port);
    if (::inet_pton(AF_INET, host.c_str(), &to.sin_addr) != 1) return std::nullopt;
    address.size = sizeof to;
    std::memcpy(&address.value, &to, sizeof to);
    return address;
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
    int error = 0;
    if (::connect(descriptor, to.ai_addr, to.ai_addrlen) != 0) error = errno;
    if (error == EINPROGRESS) {
        constexpr int patience = 1000; // ms
        pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
        socklen_t size = sizeof error;
        if (::poll(&ready, 1, patience) != 1)
            error = ETIMEDOUT;
        else if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = errno;
    }
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

} // namespace assay::harness
