// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

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

} // namespace

extern constinit const assay_benchmark alltoall = define<Exchange<Alltoall>>();

} // namespace assay::collective
