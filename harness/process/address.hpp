// SPDX-License-Identifier: Apache-2.0
//
// The address on which a parent listens, as text: "unix:@<name>" for workers on this host, "tcp:<address>:<port>" for
// those on other hosts, "tcp:[<address>]:<port>" for IPv6.

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

} // namespace assay::harness
