// SPDX-License-Identifier: Apache-2.0
//
// What each collective does with its message, whatever library does it: how it is cut, how much a rank sends
// and gets, where a number comes from, and what a byte of it is on the bus. Sizes and factors are those of
// NCCL's tests, so that hosts and devices are comparable.

#pragma once

#include <assay/host_device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace assay::collective {

enum class Kind : std::uint8_t {
    allreduce,
    reduce_scatter,
    allgather,
    broadcast,
    alltoall,
    send_receive // around a ring
};

ASSAY_HOST_DEVICE constexpr bool reduces(Kind kind) {
    return kind == Kind::allreduce || kind == Kind::reduce_scatter;
}
/// Is the message cut into a block for each rank?
constexpr bool divided(Kind kind) {
    return kind == Kind::allgather || kind == Kind::reduce_scatter || kind == Kind::alltoall;
}
/// Bus bytes of a byte of the message.
constexpr double bus_factor(Kind kind, int ranks) {
    const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
    if (kind == Kind::allreduce) return 2 * others;
    return divided(kind) ? others : 1;
}

/// Numbers of a block, each of `size` bytes. A message that cannot be cut evenly is rounded down, to one
/// number at least.
constexpr std::size_t count_of(Kind kind, std::int64_t size, std::int64_t bytes, int ranks) {
    const std::int64_t parts = divided(kind) ? ranks : 1;
    return static_cast<std::size_t>(std::max<std::int64_t>(bytes / (parts * size), 1));
}
/// Numbers that a rank sends and gets, of blocks of `count`.
constexpr std::size_t sent(Kind kind, std::size_t count, int ranks) {
    const bool all = kind == Kind::reduce_scatter || kind == Kind::alltoall;
    return all ? count * static_cast<std::size_t>(ranks) : count;
}
constexpr std::size_t received(Kind kind, std::size_t count, int ranks) {
    const bool all = kind == Kind::allgather || kind == Kind::alltoall;
    return all ? count * static_cast<std::size_t>(ranks) : count;
}

/// The rank and index that number i of a rank's result comes from; sums come from all ranks.
struct Origin {
    int rank;
    std::uint64_t index;
};
ASSAY_HOST_DEVICE constexpr Origin origin(Kind kind, int rank, int ranks, std::uint64_t count,
                                          std::uint64_t i) {
    const auto own = static_cast<std::uint64_t>(rank);
    switch (kind) {
    case Kind::allreduce:
        return {rank, i};
    case Kind::reduce_scatter:
        return {rank, own * count + i};
    case Kind::allgather:
        return {static_cast<int>(i / count), i % count};
    case Kind::broadcast:
        return {0, i};
    case Kind::alltoall:
        return {static_cast<int>(i / count), own * count + i % count};
    default:
        return {(rank + ranks - 1) % ranks, i};
    }
}

} // namespace assay::collective
