// SPDX-License-Identifier: Apache-2.0
#include "collective/nccl_benchmark.hpp"

namespace assay::collective {
namespace {

struct Allreduce {
    static constexpr Kind kind = Kind::allreduce;
    static constexpr Info info =
        nccl_info("collective.allreduce",
                  "How fast do several devices sum their data so that all have the result?",
                  "ncclAllReduce with ncclSum. " ASSAY_NCCL_PROCESSES
                  "Bus bandwidth is message bytes per second times 2 (n-1) / n: what an ideal ring "
                  "moves per rank. Data is different random integers per device whose sum is exact "
                  "in the type. In place, sums grow by n per call, so inputs are restored before "
                  "each batch and every few dozen calls. " ASSAY_NCCL_CHECK);
};

struct ReduceScatter {
    static constexpr Kind kind = Kind::reduce_scatter;
    static constexpr Info info = nccl_info(
        "collective.reduce_scatter",
        "How fast do several devices sum their data, each keeping a part of the result?",
        "ncclReduceScatter with ncclSum. " ASSAY_NCCL_PROCESSES
        "Bus bandwidth is bytes of all blocks per second times (n-1) / n. Data is random integers "
        "whose sums are exact in the type. In place, a device's own block accumulates the others' "
        "with each call, so inputs are restored before a sum would be rounded. " ASSAY_NCCL_CHECK);
};

struct Allgather {
    static constexpr Kind kind = Kind::allgather;
    static constexpr Info info =
        nccl_info("collective.allgather", "How fast does every device get the blocks of all?",
                  "ncclAllGather. " ASSAY_NCCL_PROCESSES
                  "Bus bandwidth is bytes of all blocks per second times (n-1) / n. Data is random "
                  "integers. " ASSAY_NCCL_CHECK);
};

struct Broadcast {
    static constexpr Kind kind = Kind::broadcast;
    static constexpr Info info = nccl_info(
        "collective.broadcast", "How fast does one device send its data to all others?",
        "ncclBroadcast from the first device. " ASSAY_NCCL_PROCESSES
        "Bus bandwidth is message bytes per second. Data is random integers. " ASSAY_NCCL_CHECK);
};

struct Alltoall {
    static constexpr Kind kind = Kind::alltoall;
    static constexpr Info info =
        nccl_info("collective.alltoall",
                  "How fast does every device send a different block to each other device?",
                  "ncclSend and ncclRecv of a block to and from every device, itself included, in "
                  "one group call. " ASSAY_NCCL_PROCESSES
                  "Bus bandwidth is bytes of all blocks of a device per second times (n-1) / n. "
                  "Data is random integers. " ASSAY_NCCL_CHECK);
};

struct SendReceive {
    static constexpr Kind kind = Kind::send_receive;
    static constexpr Info info = nccl_info(
        "collective.send_receive", "How fast do neighbours in a ring of devices pass data on?",
        "ncclSend to the next device and ncclRecv from the previous one, in one group "
        "call. " ASSAY_NCCL_PROCESSES "Bus bandwidth is message bytes per second, one way. Data is "
        "random integers. " ASSAY_NCCL_CHECK);
};

} // namespace

extern constinit const assay_benchmark device_allreduce = define<NcclCollective<Allreduce>>();
extern constinit const assay_benchmark device_reduce_scatter =
    define<NcclCollective<ReduceScatter>>();
extern constinit const assay_benchmark device_allgather = define<NcclCollective<Allgather>>();
extern constinit const assay_benchmark device_broadcast = define<NcclCollective<Broadcast>>();
extern constinit const assay_benchmark device_alltoall = define<NcclCollective<Alltoall>>();
extern constinit const assay_benchmark device_send_receive = define<NcclCollective<SendReceive>>();

} // namespace assay::collective
