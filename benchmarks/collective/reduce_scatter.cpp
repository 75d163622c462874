// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

namespace assay::collective {

namespace {

struct ReduceScatter {
    static constexpr const char* name = "MPI_Reduce_scatter_block";
    static constexpr Info info{
        .id = "collective.reduce_scatter",
        .version = 1,
        .question =
            "How fast do several processes add up their data, so that each has a part of the "
            "sum?",
        .method = "MPI_Reduce_scatter_block with MPI_SUM, calls back to back; the slowest rank "
                  "counts. The message size is what each rank brings, the sum of which is shared "
                  "out. Bus bandwidth is message bytes per second times (n-1) / n: what must leave "
                  "each rank.",
        .caveats = caveats,
        .headline = "bus_bandwidth",
    };
    static constexpr auto algorithms = collective::algorithms(
        {"basic_linear", "recursive_doubling", "recursive_halving", "butterfly"});
    static constexpr const char* algorithm_variable =
        "OMPI_MCA_coll_tuned_reduce_scatter_block_algorithm";
    static constexpr bool reduces = true;
    static constexpr bool divided = true;
    static Shape shape(std::size_t count, int ranks) {
        return {.send = count * static_cast<std::size_t>(ranks), .receive = count};
    }
    static constexpr double bus_factor(int ranks) { return all_but_own(ranks); }
    static constexpr bool receives(int /*rank*/) { return true; }
    static int call(const void* in, void* out, int count, MPI_Datatype type, int /*rank*/,
                    int /*ranks*/, MPI_Comm communicator) noexcept {
        return MPI_Reduce_scatter_block(in, out, count, type, MPI_SUM, communicator);
    }
    static double result(const Values& values, int rank, int /*ranks*/, std::size_t count,
                         std::size_t i) {
        return values.sum(static_cast<std::size_t>(rank) * count + i);
    }
};

} // namespace

extern constinit const assay_benchmark reduce_scatter = define<Exchange<ReduceScatter>>();

} // namespace assay::collective
