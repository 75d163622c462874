// SPDX-License-Identifier: Apache-2.0
#include "meeting.hpp"

#include <assay/verify.hpp>

#include <limits>
#include <stdexcept>
#include <utility>

namespace assay::network {

Meeting::Meeting(Way way, Context& context)
    : team_{context}, way_{way}, ranks_{context.team().size()}, rank_{context.team().rank()},
      pairing_{pairing_of(rank_, ranks_)} {}

void Meeting::is_open(std::vector<Lane> lanes) {
    lanes_ = std::move(lanes);
    before_ = collective::traffic_now();
    if (lanes_.empty()) return;
    team_.setting("transports", transports_of(lanes_));
    team_.setting("network_devices", devices_of(lanes_));
    team_.tell({.network_devices = devices_of(lanes_)});
    team_.setting("lanes", words_of(lanes_));
}

Check Meeting::prove(Check check, double least_bytes) const {
    if (least_bytes <= 0) return check; // nothing was called yet
    const auto now = collective::traffic_now();
    const collective::Traffic seen{.tcp = now.tcp - before_.tcp, .rdma = now.rdma - before_.rdma};
    auto wrong = contradiction(way_, lanes_);
    if (wrong.empty()) wrong = collective::contradiction(transport_of(way_), seen, least_bytes);
    if (wrong.empty()) {
        const auto path = way_ == Way::any ? transports_of(lanes_) : name_of(way_);
        if (!path.empty()) team_.setting("path", path);
        return check;
    }
    return check_value(std::numeric_limits<double>::infinity(), check.bound,
                       std::move(check.method),
                       joined("asked for ", name_of(way_), ", but ", wrong));
}

// NOLINTNEXTLINE(bugprone-exception-escape): no swap() of a type
std::vector<std::byte> Meeting::swap(std::span<const std::byte> own) const {
    constexpr int tag = 21;
    const auto exchange = [&](const void* from, int count, void* to, int room) {
        mpi::check(MPI_Sendrecv(from, count, MPI_BYTE, pairing_.partner, tag, to, room, MPI_BYTE,
                                pairing_.partner, tag, mpi::communicator(), MPI_STATUS_IGNORE),
                   "MPI_Sendrecv");
    };
    const std::uint64_t length = own.size();
    std::uint64_t other = 0;
    exchange(&length, sizeof length, &other, sizeof other);
    std::vector<std::byte> theirs(other);
    exchange(own.data(), static_cast<int>(length), theirs.data(), static_cast<int>(other));
    return theirs;
}

void Meeting::agree(const std::string& problem) const {
    const int failed = static_cast<int>(max(problem.empty() ? 0 : rank_ + 1));
    if (failed == 0) return;
    if (!problem.empty()) throw std::runtime_error{problem};
    throw std::runtime_error{
        joined("rank ", failed - 1, " of ", ranks_, " failed to start; see its log")};
}

} // namespace assay::network
