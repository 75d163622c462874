// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

struct Allgather {
    static constexpr const char* name = "MPI_Allgather";
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
    static constexpr bool reduces = false;
    static constexpr bool divided = true;
    static Shape shape(std::size_t count, int ranks) {
        return {.send = count, .receive = count * static_cast<std::size_t>(ranks)};
    }
    static constexpr double bus_factor(int ranks) { return all_but_own(ranks); }
    static constexpr bool receives(int /*rank*/) { return true; }
    static int call(const void* in, void* out, int count, MPI_Datatype type, int /*rank*/,
                    int /*ranks*/, MPI_Comm communicator) noexcept {
        return MPI_Allgather(in, count, type, out, count, type, communicator);
    }
    static double result(const Values& values, int /*rank*/, int /*ranks*/, std::size_t count,
                         std::size_t i) {
        return values.at(static_cast<int>(i / count), i % count);
    }
};

} // namespace

extern constinit const assay_benchmark allgather = define<Exchange<Allgather>>();

} // namespace assay::collective
