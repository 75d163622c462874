// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

struct Allgather {
    static constexpr const char* name = "MPI_Allgather";
    static constexpr Kind kind = Kind::allgather;
    static constexpr Info info{
        .id = "collective.allgather",
        .version = 1,
        .question =
            "How fast do several processes collect the data of all, so that each has it all?",
        .method = "MPI_Allgather, calls back to back; the slowest rank counts. The message size is "
                  "that of the collected whole. Bus bandwidth is message bytes per second times "
                  "(n-1) / n: what must reach each rank.",
        .caveats = caveats,
        .headline = "bus_bandwidth",
    };
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
