// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

struct Broadcast {
    static constexpr const char* name = "MPI_Bcast";
    static constexpr Kind kind = Kind::broadcast;
    static constexpr Info info =
        mpi_info("collective.broadcast", "How fast does one process send its data to all others?",
                 "MPI_Bcast from rank 0, calls back to back, timed by the slowest rank. Bus "
                 "bandwidth is message bytes per second: every other rank must receive them once.",
                 "The root may run ahead: with small messages the next call starts before the "
                 "others have the last, so the time is that of a stream of broadcasts. The library "
                 "chooses the algorithm, and ranks on one machine use its memory, not a network.");
    static constexpr auto algorithms = collective::algorithms(
        {"basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial",
         "knomial", "scatter_allgather", "scatter_allgather_ring"});
    static constexpr const char* algorithm_variable = "OMPI_MCA_coll_tuned_bcast_algorithm";
    static int call(void* in, void* out, int count, MPI_Datatype type, int rank, int /*ranks*/,
                    MPI_Comm communicator) noexcept {
        return MPI_Bcast(receives(kind, rank) ? out : in, count, type, 0, communicator);
    }
};

} // namespace

extern constinit const assay_benchmark broadcast = define<Exchange<Broadcast>>();

} // namespace assay::collective
