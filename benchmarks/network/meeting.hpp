// SPDX-License-Identifier: Apache-2.0
//
// Ranks in pairs that meet over MPI: it exchanges what partners must know of each other, and is quiet while anything is
// timed. A Wire carries the messages (wire.hpp).

#pragma once

#include "collective/world.hpp"
#include "lanes.hpp"
#include "pairs.hpp"
#include "way.hpp"

#include <assay/benchmark.hpp>
#include <assay/random.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::network {

using Word = std::uint64_t;

/// Memory that both ranks of a pair know: what it is registered as is the Wire's.
struct Region;
/// Bytes of a region of this rank, or of its partner's that lies across from it.
struct Piece {
    const Region& region;
    std::size_t begin; ///< in bytes
    std::size_t bytes;
};

class Meeting {
public:
    Meeting(Way way, Context& context);

    Pairing pairing() const { return pairing_; }
    int rank() const { return rank_; }
    /// The largest value over all ranks.
    double max(double value) const { return team_.team().max(value); }
    /// The partner's bytes for these.
    std::vector<std::byte> swap(std::span<const std::byte> own) const;
    /// An error on one rank becomes an error on all: `problem` is empty, or this one's.
    void agree(const std::string& problem) const;

    /// After so many bytes to or from this rank, at least: fails the check where they took another way,
    /// and records it.
    Check prove(Check check, double least_bytes) const;

protected:
    /// Until every rank is here; `progress` is called meanwhile.
    template <class Progress>
    void part(Progress&& progress) const {
        MPI_Request request = MPI_REQUEST_NULL;
        mpi::check(MPI_Ibarrier(mpi::communicator(), &request), "MPI_Ibarrier");
        for (int there = 0; there == 0;) {
            progress();
            mpi::check(MPI_Test(&request, &there, MPI_STATUS_IGNORE), "MPI_Test");
        }
    }
    /// Records what leads to the partner. From now on the kernel's counts belong to the benchmark.
    void is_open(std::vector<Lane> lanes);

private:
    Context team_;
    Way way_;
    int ranks_;
    int rank_;
    Pairing pairing_;
    std::vector<Lane> lanes_;
    collective::Traffic before_;
};

} // namespace assay::network
