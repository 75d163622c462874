// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

struct SendReceive {
    static constexpr const char* name = "MPI_Sendrecv";
    static constexpr int tag = 7;
    static constexpr Kind kind = Kind::send_receive;
    static constexpr Info info = mpi_info(
        "collective.send_receive", "How fast do neighbours in a ring of processes pass data on?",
        "MPI_Sendrecv: every rank sends to the next and receives from the previous one, all at "
        "once, calls back to back, timed by the slowest rank. Bus bandwidth is message bytes per "
        "second, one way.",
        "Every rank sends and receives at once; a single pair, one way, may be faster. Ranks on "
        "one machine use its memory, not a network; the settings `machines` and `path` say what "
        "was used.");
    static int call(const void* in, void* out, int count, MPI_Datatype type, int rank, int ranks,
                    MPI_Comm communicator) noexcept {
        return MPI_Sendrecv(in, count, type, (rank + 1) % ranks, tag, out, count, type,
                            (rank + ranks - 1) % ranks, tag, communicator, MPI_STATUS_IGNORE);
    }
};

} // namespace

extern constinit const assay_benchmark send_receive = define<Exchange<SendReceive>>();

} // namespace assay::collective
