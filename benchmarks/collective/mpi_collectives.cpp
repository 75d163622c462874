// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

struct Allreduce {
    static constexpr const char* name = "MPI_Allreduce";
    static constexpr Kind kind = Kind::allreduce;
    static constexpr Info info = mpi_info(
        "collective.allreduce",
        "How fast do several processes sum their data so that all have the result?",
        "MPI_Allreduce with MPI_SUM, calls back to back, timed by the slowest rank. Bus bandwidth "
        "is message bytes per second times 2 (n-1) / n: what an ideal algorithm moves per rank. "
        "Every rank sends different small random integers and checks every element of the sum "
        "exactly. In place, sums grow by n per call, so inputs are restored before each batch, and "
        "within a batch of small messages before the type overflows (fp32, 2 ranks: every 120 "
        "calls).");
    static constexpr auto algorithms =
        collective::algorithms({"basic_linear", "nonoverlapping", "recursive_doubling", "ring",
                                "segmented_ring", "rabenseifner"});
    static constexpr const char* algorithm_variable = "OMPI_MCA_coll_tuned_allreduce_algorithm";
    static int call(const void* in, void* out, int count, MPI_Datatype type, int /*rank*/,
                    int /*ranks*/, MPI_Comm communicator) noexcept {
        return MPI_Allreduce(in, out, count, type, MPI_SUM, communicator);
    }
};

struct ReduceScatter {
    static constexpr const char* name = "MPI_Reduce_scatter_block";
    static constexpr Kind kind = Kind::reduce_scatter;
    static constexpr Info info =
        mpi_info("collective.reduce_scatter",
                 "How fast do several processes sum their data, each keeping a part of the result?",
                 "MPI_Reduce_scatter_block with MPI_SUM, calls back to back, timed by the slowest "
                 "rank. The message size is what each rank contributes. Bus bandwidth is message "
                 "bytes per second times (n-1) / n: what must leave each rank.");
    static constexpr auto algorithms = collective::algorithms(
        {"basic_linear", "recursive_doubling", "recursive_halving", "butterfly"});
    static constexpr const char* algorithm_variable =
        "OMPI_MCA_coll_tuned_reduce_scatter_block_algorithm";
    static int call(const void* in, void* out, int count, MPI_Datatype type, int /*rank*/,
                    int /*ranks*/, MPI_Comm communicator) noexcept {
        return MPI_Reduce_scatter_block(in, out, count, type, MPI_SUM, communicator);
    }
};

struct Allgather {
    static constexpr const char* name = "MPI_Allgather";
    static constexpr Kind kind = Kind::allgather;
    static constexpr Info info = mpi_info(
        "collective.allgather", "How fast do several processes gather the data of all on each?",
        "MPI_Allgather, calls back to back, timed by the slowest rank. The message size is that of "
        "the gathered whole. Bus bandwidth is message bytes per second times (n-1) / n: what must "
        "reach each rank.");
    static constexpr auto algorithms = collective::algorithms(
        {"linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"});
    static constexpr const char* algorithm_variable = "OMPI_MCA_coll_tuned_allgather_algorithm";
    static int call(const void* in, void* out, int count, MPI_Datatype type, int /*rank*/,
                    int /*ranks*/, MPI_Comm communicator) noexcept {
        return MPI_Allgather(in, count, type, out, count, type, communicator);
    }
};

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

struct Alltoall {
    static constexpr const char* name = "MPI_Alltoall";
    static constexpr Kind kind = Kind::alltoall;
    static constexpr Info info =
        mpi_info("collective.alltoall",
                 "How fast does each of several processes send a different block to every other?",
                 "MPI_Alltoall, calls back to back, timed by the slowest rank. The message size is "
                 "what each rank sends in all. Bus bandwidth is message bytes per second times "
                 "(n-1) / n: what must leave each rank.");
    static constexpr auto algorithms =
        collective::algorithms({"linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"});
    static constexpr const char* algorithm_variable = "OMPI_MCA_coll_tuned_alltoall_algorithm";
    static int call(const void* in, void* out, int count, MPI_Datatype type, int /*rank*/,
                    int /*ranks*/, MPI_Comm communicator) noexcept {
        return MPI_Alltoall(in, count, type, out, count, type, communicator);
    }
};

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

extern constinit const assay_benchmark allreduce = define<Exchange<Allreduce>>();
extern constinit const assay_benchmark reduce_scatter = define<Exchange<ReduceScatter>>();
extern constinit const assay_benchmark allgather = define<Exchange<Allgather>>();
extern constinit const assay_benchmark broadcast = define<Exchange<Broadcast>>();
extern constinit const assay_benchmark alltoall = define<Exchange<Alltoall>>();
extern constinit const assay_benchmark send_receive = define<Exchange<SendReceive>>();

} // namespace assay::collective

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks = assay::mpi::module_of_job<assay::mpi::report_library>();
