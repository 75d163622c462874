// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

struct Broadcast {
    static constexpr const char* name = "MPI_Bcast";
    static constexpr Kind kind = Kind::broadcast;
    static constexpr Info info{
        .id = "collective.broadcast",
        .version = 1,
        .question = "How fast does one process hand its data to all others?",
        .method =
            "MPI_Bcast from rank 0, calls back to back; the slowest rank counts. Bus bandwidth "
            "is message bytes per second: each rank but the first must receive them once.",
        .caveats =
            "The first rank may run ahead: of small messages the next call begins before the "
            "others have the last, so the time is that of a stream of broadcasts. Otherwise as "
            "the other collectives: the library chooses the algorithm, and ranks on one "
            "machine use its memory, not a network.",
        .headline = "bus_bandwidth",
    };
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
