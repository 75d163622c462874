// SPDX-License-Identifier: Apache-2.0
//
// Collectives of NCCL. The same source is compiled for two modules: one process with all devices, and a process for
// each (ASSAY_NCCL_TEAM).
#include "collective/nccl_choice.hpp"
#include "collective/nccl_group.hpp"

#include <assay/define.hpp>

namespace assay::collective {
namespace {

#if defined(ASSAY_NCCL_TEAM)
constexpr bool is_team = true;
#define ASSAY_NCCL_PROCESSES                                                                       \
    "One process per device, started by mpirun or srun; calls back to back. Timed by device "      \
    "events, the slowest device counts. "
#define ASSAY_NCCL_CAVEAT                                                                          \
    "Small messages include NCCL's launch on each device and, on the first rank, a log line per "  \
    "call (about a microsecond). Ranks start a batch together to within an MPI barrier. "
#else
constexpr bool is_team = false;
#define ASSAY_NCCL_PROCESSES                                                                       \
    "One process with all devices (ncclCommInitAll, one group call), calls back to back. Timed "   \
    "by device events, the slowest device counts. "
#define ASSAY_NCCL_CAVEAT                                                                          \
    "Small messages show the launch of a kernel on every device from one thread, and a log line "  \
    "of NCCL per call (about a microsecond); module nccl_mpi, one process per device, is faster. "
#endif
/// How every collective is checked.
#define ASSAY_NCCL_CHECK                                                                           \
    "Every element is checked on every device. The transport is read from NCCL's log; one other "  \
    "than requested fails the check."

/// The collective comes from its Operation: `info`, `kind`.
template <class Operation>
class NcclCollective : public NcclGroup {
public:
    using Params = NcclParams;
    static constexpr Info info = Operation::info;
    static constexpr bool all_devices = true;
    static constexpr bool team = is_team;
    /// Inputs are restored inside, see NcclGroup::run(). More calls than any batch needs.
    static constexpr std::uint64_t safe_calls = 1U << 24U;

    static constexpr auto axes = [] {
        using namespace assay::units;
        const auto common = std::tuple{
            symbolic("ranks", "devices: all, or so many of the first", "", &Params::ranks,
                     {Symbol::all}, {2, 4096}, {Symbol::all}),
            integer("bytes",
                    divided(Operation::kind) ? "message size, of the blocks of all ranks together"
                                             : "message size",
                    "B", &Params::bytes,
                    {8, 1_KiB, 64_KiB, 1_MiB, 16_MiB, 64_MiB, 1_GiB, 8_GiB, 16_GiB}, {8, 64_GiB}),
            choice("buffers",
                   "plain (cudaMalloc), registered with NCCL (ncclMemAlloc, ncclCommRegister), or "
                   "symmetric windows (ncclCommWindowRegister)",
                   &Params::buffers,
                   {{"plain", Allocation::plain},
                    {"registered", Allocation::registered},
                    {"symmetric", Allocation::symmetric}},
                   {Allocation::plain}),
            choice("transport", "transport of the messages; fastest: NCCL's choice", &Params::way,
                   way_names, {Way::fastest}, way_variables)};
        const auto choices = [] {
            if constexpr (has_algorithms(Operation::kind))
                return std::tuple{
                    choice("algorithm", "NCCL's name; default: its choice", &Params::algorithm,
                           algorithm_names, {NcclAlgorithm::own_choice}, algorithm_variables),
                    choice("protocol", "NCCL's name; default: its choice", &Params::protocol,
                           protocol_names, {NcclProtocol::own_choice}, protocol_variables)};
            else
                return std::tuple{};
        }();
        const auto type = [] {
            if constexpr (reduces(Operation::kind))
                return std::tuple{choice("type", "type of the numbers", &Params::element,
                                         {{"fp32", Element::fp32},
                                          {"fp64", Element::fp64},
                                          {"fp16", Element::fp16},
                                          {"bf16", Element::bf16},
                                          {"fp8_e4m3", Element::fp8_e4m3},
                                          {"fp8_e5m2", Element::fp8_e5m2}},
                                         {Element::fp32})};
            else
                return std::tuple{};
        }();
        const auto place = [] {
            if constexpr (has_in_place(Operation::kind))
                return std::tuple{
                    boolean("in_place", "result over the input", &Params::in_place, {false})};
            else
                return std::tuple{};
        }();
        return std::tuple_cat(common, choices, type, place);
    }();

    static Fit fit(const Params& params, const Machine& machine) {
        return fits(Operation::kind, params, machine);
    }
    NcclCollective(const Params& params, const Context& context)
        : NcclGroup{Operation::kind, params, context} {}
};

constexpr const char* nccl_caveats =
    "Every call uses the same buffers: data that fits in the second-level cache is read from "
    "it. " ASSAY_NCCL_CAVEAT
    "Bus bandwidth above that of a link is correct where the switch reduces (setting "
    "nccl.algorithm NVLS, or a kernel for symmetric buffers). The log says how connections were "
    "made, not how many bytes each carried; where the driver counts NVLink traffic (setting "
    "nvlink.proof), a contradiction makes the case incorrect.";

constexpr Info nccl_info(const char* id, const char* question, const char* method) {
    return {.id = id,
            .version = 1,
            .question = question,
            .method = method,
            .caveats = nccl_caveats,
            .headline = "bus_bandwidth",
            .place = device::place_kind,
            .trial_bytes = 16 << 10U,
            .bound = Bound::device_links,
            .noise = Noise::messages};
}

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
