// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

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

} // namespace

extern constinit const assay_benchmark reduce_scatter = define<Exchange<ReduceScatter>>();

} // namespace assay::collective
