// SPDX-License-Identifier: Apache-2.0
//
// Where a parent listens, as text: "unix:@<name>" for workers on this host, "tcp:<address>:<port>" for
// those on others, "tcp:[<address>]:<port>" for IPv6.

#pragma once

#include "base/result.hpp"

#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>

namespace assay::harness {

struct Address {
    sockaddr_storage value{};
    socklen_t size = 0;
    bool is_local() const { return value.ss_family == AF_UNIX; }
};

/// Nothing for text that is no such address.
std::optional<Address> parse_address(std::string_view text);
std::string to_text(const Address& address);

/// This machine's address, port 0, on the way that the kernel would take to `host`: what workers there
/// can connect to. A name that nobody knows is an error of usage, a host that no interface leads to one
/// of the environment.
Result<Address> own_address_towards(const std::string& host);

/// The host's first address, numeric: two names of one host have the same.
Result<std::string> numeric_address(const std::string& host);

/// Does anybody answer at this host's address within a second? To be refused is an answer; a firewall that
/// says nothing is none. For the reason of a failure, not before one.
bool does_answer(const std::string& host);

} // namespace assay::harness
