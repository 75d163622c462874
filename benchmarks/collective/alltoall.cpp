// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

struct Alltoall {
    static constexpr const char* name = "MPI_Alltoall";
    static constexpr Info info{
        .id = "collective.alltoall",
        .version = 1,
        .question =
            "How fast does each of several processes hand every other one a piece of its own?",
        .method = "MPI_Alltoall, calls back to back; the slowest rank counts. The message size is "
                  "what each rank sends in all. Bus bandwidth is message bytes per second times "
                  "(n-1) / n: what must leave each rank.",
        .caveats = caveats,
        .headline = "bus_bandwidth",
    };
    static constexpr auto algorithms =
        collective::algorithms({"linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"});
    static constexpr const char* algorithm_variable = "OMPI_MCA_coll_tuned_alltoall_algorithm";
    static constexpr bool reduces = false;
    static constexpr bool divided = true;
    static Shape shape(std::size_t count, int ranks) {
        const std::size_t whole = count * static_cast<std::size_t>(ranks);
        return {.send = whole, .receive = whole};
    }
    static constexpr double bus_factor(int ranks) { return all_but_own(ranks); }
    static constexpr bool receives(int /*rank*/) { return true; }
    static int call(const void* in, void* out, int count, MPI_Datatype type, int /*rank*/,
                    int /*ranks*/, MPI_Comm communicator) noexcept {
        return MPI_Alltoall(in, count, type, out, count, type, communicator);
    }
    static double result(const Values& values, int rank, int /*ranks*/, std::size_t count,
                         std::size_t i) {
        return values.at(static_cast<int>(i / count),
                         static_cast<std::size_t>(rank) * count + i % count);
    }
};

} // namespace

extern constinit const assay_benchmark alltoall = define<Exchange<Alltoall>>();

} // namespace assay::collective
