// SPDX-License-Identifier: Apache-2.0
#include "collective/nccl_benchmark.hpp"

namespace assay::collective {
namespace {

struct Allreduce {
    static constexpr Kind kind = Kind::allreduce;
    static constexpr Info info{
        .id = "collective.allreduce",
        .version = 1,
        .question = "How fast do several devices add up their data, so that all have the sum?",
        .method = "ncclAllReduce with ncclSum. " ASSAY_NCCL_PROCESSES
                  "Bus bandwidth is message bytes per second times 2 (n-1) / n: what an ideal ring "
                  "moves per rank. Every device sends other random integers, small enough that "
                  "their sum is exact in the type, and checks every element of it. In place, sums "
                  "of sums grow by n per call, so inputs are made again before each batch and "
                  "every few dozen calls. The way that messages took is read from NCCL's log; one "
                  "that is not the one asked for is a failed check.",
        .caveats = nccl_caveats,
        .headline = "bus_bandwidth",
        .place = "cuda",
    };
};

struct ReduceScatter {
    static constexpr Kind kind = Kind::reduce_scatter;
    static constexpr Info info{
        .id = "collective.reduce_scatter",
        .version = 1,
        .question =
            "How fast do several devices add up their data, each keeping a part of the sum?",
        .method = "ncclReduceScatter with ncclSum. " ASSAY_NCCL_PROCESSES
                  "Bus bandwidth is bytes of all blocks per second times (n-1) / n. Random "
                  "integers whose sums are exact in the type; every element is checked on its "
                  "device. In place, a device's own block collects the others' again with each "
                  "call, so inputs are made again before a sum would be rounded. The way that "
                  "messages took is read from NCCL's log; one that is not the one asked for is a "
                  "failed check.",
        .caveats = nccl_caveats,
        .headline = "bus_bandwidth",
        .place = "cuda",
    };
};

} // namespace

extern constinit const assay_benchmark device_allreduce;
constinit const assay_benchmark device_allreduce = define<NcclCollective<Allreduce>>();
extern constinit const assay_benchmark device_reduce_scatter;
constinit const assay_benchmark device_reduce_scatter = define<NcclCollective<ReduceScatter>>();

} // namespace assay::collective
