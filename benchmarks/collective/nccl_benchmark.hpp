// SPDX-License-Identifier: Apache-2.0
//
// A collective of NCCL as a benchmark. Which one, its Operation says: `info`, `kind`.

#pragma once

#include "collective/nccl_group.hpp"

#include <assay/define.hpp>
#include <assay/units.hpp>

#include <array>
#include <cstdint>
#include <tuple>

namespace assay::collective {

inline constexpr std::array way_names{
    Name<Way>{"fastest", Way::fastest},     Name<Way>{"nvlink_ring", Way::nvlink_ring},
    Name<Way>{"pcie_peer", Way::pcie_peer}, Name<Way>{"host_staged", Way::host_staged},
    Name<Way>{"rdma", Way::rdma},           Name<Way>{"tcp", Way::tcp},
};

/// As NVIDIA documents them. NVLink's switch is not turned off by turning off peer access. Each transport sets all that
/// decides it, so that what the user has set elsewhere is not another way under this name.
inline constexpr std::array way_variables{
    variable("nvlink_ring", "NCCL_NVLS_ENABLE", "0"),
    variable("nvlink_ring", "NCCL_ALGO", "Ring"),
    variable("nvlink_ring", "NCCL_P2P_DISABLE", "0"),
    variable("nvlink_ring", "NCCL_P2P_LEVEL", "PXB"), // the default
    variable("pcie_peer", "NCCL_P2P_LEVEL", "SYS"),
    variable("pcie_peer", "NCCL_P2P_DISABLE", "0"),
    variable("pcie_peer", "NCCL_NVLS_ENABLE", "0"),
    variable("host_staged", "NCCL_P2P_DISABLE", "1"),
    variable("host_staged", "NCCL_NVLS_ENABLE", "0"),
    variable("host_staged", "NCCL_SHM_DISABLE", "0"),
    variable("rdma", "NCCL_P2P_DISABLE", "1"),
    variable("rdma", "NCCL_SHM_DISABLE", "1"),
    variable("rdma", "NCCL_NVLS_ENABLE", "0"),
    variable("rdma", "NCCL_MNNVL_ENABLE", "0"),
    variable("rdma", "NCCL_NET", "IB"),
    variable("rdma", "NCCL_IB_DISABLE", "0"),
    variable("tcp", "NCCL_P2P_DISABLE", "1"),
    variable("tcp", "NCCL_SHM_DISABLE", "1"),
    variable("tcp", "NCCL_NVLS_ENABLE", "0"),
    variable("tcp", "NCCL_MNNVL_ENABLE", "0"),
    variable("tcp", "NCCL_NET", "Socket"),
    variable("tcp", "NCCL_IB_DISABLE", "1"),
};

template <class Operation>
class NcclCollective {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        Element type = Element::fp32;
        bool in_place = false;
        Allocation buffers = Allocation::plain;
        Way transport = Way::fastest;
    };
    static constexpr Info info = Operation::info;
    static constexpr bool all_devices = true;
    /// Inputs are restored inside, see NcclGroup::run(). More calls than any batch needs.
    static constexpr std::uint64_t safe_calls = 1U << 24U;

    static constexpr auto axes = [] {
        using namespace assay::units;
        const auto common = std::tuple{
            symbolic<Params>("ranks", "devices: all, or so many of the first", "", &Params::ranks,
                             {Symbol::all}, {2, 4096}, {Symbol::all}),
            integer<Params>("bytes",
                            divided(Operation::kind)
                                ? "message size, of the blocks of all ranks together"
                                : "message size",
                            "B", &Params::bytes,
                            {8, 1_KiB, 64_KiB, 1_MiB, 16_MiB, 64_MiB, 1_GiB, 8_GiB}, {8, 64_GiB}),
            choice<Params>("buffers",
                           "plain (cudaMalloc), or registered with NCCL (ncclMemAlloc, "
                           "ncclCommRegister)",
                           &Params::buffers,
                           {Name<Allocation>{"plain", Allocation::plain},
                            {"registered", Allocation::registered}},
                           {Allocation::plain}),
            choice<Params>("transport", "the way that messages take; fastest: NCCL's choice",
                           &Params::transport, way_names, {Way::fastest}, way_variables)};
        const auto type = [] {
            if constexpr (reduces(Operation::kind))
                return std::tuple{choice<Params>("type", "type of the numbers", &Params::type,
                                                 {Name<Element>{"fp32", Element::fp32},
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
                return std::tuple{boolean<Params>("in_place", "result over the input",
                                                  &Params::in_place, {false})};
            else
                return std::tuple{};
        }();
        return std::tuple_cat(common, type, place);
    }();

    static Fit fit(const Params& params, const Machine& /*machine*/) {
        return NcclGroup::fits(plan(params));
    }
    NcclCollective(const Params& params, Context& context) : group_{plan(params), context} {}

    NcclGroup& clock() { return group_; }
    void run() { group_.run(); }
    Work work() const {
        return {.algorithm_bytes = group_.bytes(), .bus_bytes = group_.bus_bytes()};
    }
    Check verify() const { return group_.verify(); }
    void poison() { group_.poison(); }
    void spoil() { group_.spoil(); }
    void rewind() { group_.rewind(); }

private:
    static NcclGroup::Plan plan(const Params& params) {
        return {.kind = Operation::kind,
                .ranks = params.ranks,
                .bytes = params.bytes,
                .element = params.type,
                .in_place = params.in_place,
                .buffers = params.buffers,
                .way = params.transport};
    }
    NcclGroup group_;
};

inline constexpr const char* nccl_caveats =
    "Every call uses the same buffers: what fits the second level cache is read from there. "
    "Small messages show the host's time to launch a kernel on every device from one thread, and a "
    "line of NCCL's log for each call (about a microsecond); one process for each device would "
    "launch "
    "faster. Bus bandwidth above what a link carries is no error where the "
    "switch adds up (setting nccl.algorithm NVLS). The log says which way connections were made, "
    "not how many bytes "
    "went there; the counters of NVLink, where the record has them, do.";

} // namespace assay::collective
