// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

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

} // namespace

extern constinit const assay_benchmark allgather = define<Exchange<Allgather>>();

} // namespace assay::collective
