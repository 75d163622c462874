// SPDX-License-Identifier: Apache-2.0
//
// What the two ranks of a pair do: a small message to and fro, then large ones one way and the other. The
// first leads and has the times.

#pragma once

#include "pair_pace.hpp"
#include "world.hpp"

#include <assay/host.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>

namespace assay::collective {

/// Seconds, as the leading rank saw them.
struct Played {
    double half_trip = 0;
    double there = 0; ///< of all large messages
    double back = 0;
};

class Play {
public:
    /// Sends from `own`; what comes goes to a block of `received`, as large as `own`.
    Play(HostBuffer<float>& own, HostBuffer<float>& received) : own_{own}, received_{received} {}

    Played lead(int other, const Pace& pace, std::size_t block) noexcept {
        send_small(other);
        receive_small(other); // the partner has arrived
        Played played;
        double start = MPI_Wtime();
        for (int i = 0; i < pace.round_trips; ++i) {
            send_small(other);
            receive_small(other);
        }
        played.half_trip = (MPI_Wtime() - start) / (2 * pace.round_trips);
        start = MPI_Wtime();
        send_large(other, pace.numbers);
        receive_small(other);
        played.there = MPI_Wtime() - start;
        start = MPI_Wtime();
        send_small(other);
        receive_large(other, pace.numbers, block);
        played.back = MPI_Wtime() - start;
        return played;
    }

    void follow(int other, const Pace& pace, std::size_t block) noexcept {
        for (int i = 0; i < pace.round_trips + 1; ++i) {
            receive_small(other);
            send_small(other);
        }
        receive_large(other, pace.numbers, block);
        send_small(other);
        receive_small(other);
        send_large(other, pace.numbers);
    }

    /// Code of the last call of MPI that failed, or MPI_SUCCESS.
    int code() const { return code_; }
    void note(int code) noexcept {
        if (code != MPI_SUCCESS) code_ = code;
    }

private:
    static constexpr int tag = 11;

    void send_large(int to, std::size_t numbers) noexcept {
        std::array<MPI_Request, large_messages> requests{};
        for (auto& request : requests)
            note(MPI_Isend(own_.data(), static_cast<int>(numbers), MPI_FLOAT, to, tag,
                           mpi::communicator(), &request));
        note(MPI_Waitall(large_messages, requests.data(), MPI_STATUSES_IGNORE));
    }
    void receive_large(int from, std::size_t numbers, std::size_t block) noexcept {
        float* const to = received_.data() + block * own_.size();
        for (int i = 0; i < large_messages; ++i)
            note(MPI_Recv(to, static_cast<int>(numbers), MPI_FLOAT, from, tag, mpi::communicator(),
                          MPI_STATUS_IGNORE));
    }
    void send_small(int to) noexcept {
        note(MPI_Send(&word_, 1, MPI_DOUBLE, to, tag, mpi::communicator()));
    }
    void receive_small(int from) noexcept {
        note(MPI_Recv(&word_, 1, MPI_DOUBLE, from, tag, mpi::communicator(), MPI_STATUS_IGNORE));
    }

    HostBuffer<float>& own_;
    HostBuffer<float>& received_;
    double word_ = 0;
    int code_ = MPI_SUCCESS;
};

} // namespace assay::collective
