// SPDX-License-Identifier: Apache-2.0
//
// Lines over a socket, between the parent and its workers. Input is limited by the caps below: a
// peer that exceeds them is reported as broken and not read any further.
//
// A worker that the parent starts itself inherits its connection, and nobody else can reach it. Those that another
// program starts (a launcher, `via`) connect: on this host by an abstract name of Linux (no file to clean up or to
// collide with), on several hosts by TCP.

#pragma once

#include "base/file.hpp"
#include "base/result.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::process {

// --- address -------------------------------------------------------------------------------------
// The address on which a parent listens, as text: "unix:@<name>" for workers on this host, "tcp:<address>:<port>" for
// those on other hosts, "tcp:[<address>]:<port>" for IPv6.

struct Address {
    sockaddr_storage value{};
    socklen_t size = 0;
    bool is_local() const { return value.ss_family == AF_UNIX; }
};

/// Nothing if the text is not such an address.
std::optional<Address> parse_address(std::string_view text);
std::string to_text(const Address& address);

/// This machine's address, port 0, on the kernel's route to `host`: workers there can connect to it.
/// An unknown name is a usage error, a host without a route an error of
/// the environment.
Result<Address> own_address_towards(const std::string& host);

/// The host's first address, numeric: the same for all names of one host.
Result<std::string> numeric_address(const std::string& host);

/// Does this host's address answer within a second? A refused connection is an answer; a firewall that drops
/// packets is not. For explaining a failure, not for predicting one.
bool does_answer(const std::string& host);

// -------------------------------------------------------------------------------------------------

/// 16 MiB: the longest message, a result with every sample of a case, is far shorter.
inline constexpr std::size_t longest_line = std::size_t{16} << 20U;

/// 4 KiB: the longest of somebody who has not shown the token yet.
inline constexpr std::size_t longest_greeting = std::size_t{4} << 10U;

/// Cuts a stream of bytes into lines.
class LineBuffer {
public:
    explicit LineBuffer(std::size_t limit = longest_line) : limit_{limit} {}
    void set_limit(std::size_t limit) { limit_ = limit; }
    /// Appends the lines completed by `bytes`, without their ends. Fails for good when a line grows
    /// beyond the limit.
    Result<void> feed(std::string_view bytes, std::vector<std::string>& lines);

private:
    std::size_t limit_;
    std::string pending_;
};

class Connection {
public:
    explicit Connection(int descriptor, std::size_t limit = longest_line)
        : descriptor_{descriptor}, buffer_{limit} {}
    /// "fd:3" is one that was inherited.
    static Result<Connection> open(std::string_view address);

    int descriptor() const { return descriptor_.get(); }
    /// Sends the line and its end, and waits until the other side takes them.
    Result<void> send(std::string_view line) const;
    /// Sends without waiting: fails when the other side does not read earlier messages.
    Result<void> send_at_once(std::string_view line) const;
    /// Waits, receives once, at most 64 KiB, and appends the completed lines. False: the other
    /// side has closed.
    Result<bool> receive(std::vector<std::string>& lines);
    /// The other side has shown the token: its messages may be long.
    void trust() { buffer_.set_limit(longest_line); }
    /// Both directions end; a thread waiting in receive() returns.
    void shut() const;

private:
    Descriptor descriptor_;
    LineBuffer buffer_;
};

/// Both ends of a connection: ours, and that for a child (Command::connection).
Result<std::pair<Connection, Descriptor>> connection_pair();
/// Where the child finds it.
std::string inherited_address();

class Listener {
public:
    /// For workers on this host.
    static Result<Listener> open();
    /// For workers on other hosts, at an address of this machine.
    static Result<Listener> open(const Address& own);
    const std::string& address() const { return address_; }
    int descriptor() const { return descriptor_.get(); }
    /// A connection that is waiting, if any; not trusted yet. Those of other users of this host are turned away.
    std::optional<Connection> accept() const;

private:
    explicit Listener(int descriptor) : descriptor_{descriptor} {}
    Descriptor descriptor_;
    std::string address_;
    bool is_local_ = true;
};

/// Does not tell by its duration how much of a wrong token is right.
bool same_token(std::string_view a, std::string_view b);

} // namespace assay::process
