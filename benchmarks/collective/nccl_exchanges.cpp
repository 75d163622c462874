// SPDX-License-Identifier: Apache-2.0
#include "collective/nccl_benchmark.hpp"

namespace assay::collective {
namespace {

struct Allgather {
    static constexpr Kind kind = Kind::allgather;
    static constexpr Info info{
        .id = "collective.allgather",
        .version = 1,
        .question = "How fast does every device get the blocks of all?",
        .method = "ncclAllGather. " ASSAY_NCCL_PROCESSES
                  "Bus bandwidth is bytes of all blocks per second times (n-1) / n. Random "
                  "integers; every element is checked on every device. The way that messages took "
                  "is read from NCCL's log; one that is not the one asked for is a failed check.",
        .caveats = nccl_caveats,
        .headline = "bus_bandwidth",
        .place = "cuda",
    };
};

struct Broadcast {
    static constexpr Kind kind = Kind::broadcast;
    static constexpr Info info{
        .id = "collective.broadcast",
        .version = 1,
        .question = "How fast does one device hand its data to all others?",
        .method = "ncclBroadcast from the first device. " ASSAY_NCCL_PROCESSES
                  "Bus bandwidth is message bytes per second. Random integers; every element is "
                  "checked on every device. The way that messages took is read from NCCL's log; "
                  "one that is not the one asked for is a failed check.",
        .caveats = nccl_caveats,
        .headline = "bus_bandwidth",
        .place = "cuda",
    };
};

struct Alltoall {
    static constexpr Kind kind = Kind::alltoall;
    static constexpr Info info{
        .id = "collective.alltoall",
        .version = 1,
        .question = "How fast does every device send another block to each other?",
        .method = "ncclSend and ncclRecv of a block to and from every device, itself included, in "
                  "one group call. " ASSAY_NCCL_PROCESSES
                  "Bus bandwidth is bytes of all blocks of a device per second times (n-1) / n. "
                  "Random integers; every element is checked on every device. The way that "
                  "messages took is read from NCCL's log; one that is not the one asked for is a "
                  "failed check.",
        .caveats = nccl_caveats,
        .headline = "bus_bandwidth",
        .place = "cuda",
    };
};

struct SendReceive {
    static constexpr Kind kind = Kind::send_receive;
    static constexpr Info info{
        .id = "collective.send_receive",
        .version = 1,
        .question = "How fast do neighbours in a ring of devices pass data on?",
        .method = "ncclSend to the next device and ncclRecv from the one before, in one group "
                  "call. " ASSAY_NCCL_PROCESSES
                  "Bus bandwidth is message bytes per second, one way. Random integers; every "
                  "element is checked on every device. The way that messages took is read from "
                  "NCCL's log; one that is not the one asked for is a failed check.",
        .caveats = nccl_caveats,
        .headline = "bus_bandwidth",
        .place = "cuda",
    };
};

} // namespace

extern constinit const assay_benchmark device_allgather;
constinit const assay_benchmark device_allgather = define<NcclCollective<Allgather>>();
extern constinit const assay_benchmark device_broadcast;
constinit const assay_benchmark device_broadcast = define<NcclCollective<Broadcast>>();
extern constinit const assay_benchmark device_alltoall;
constinit const assay_benchmark device_alltoall = define<NcclCollective<Alltoall>>();
extern constinit const assay_benchmark device_send_receive;
constinit const assay_benchmark device_send_receive = define<NcclCollective<SendReceive>>();

} // namespace assay::collective
