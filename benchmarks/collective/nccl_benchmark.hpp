// SPDX-License-Identifier: Apache-2.0
//
// A collective of NCCL as a benchmark. Which one, its Operation says: `info`, `kind`.

#pragma once

#include "collective/nccl_choice.hpp"
#include "collective/nccl_group.hpp"
#include "collective/nccl_processes.hpp"

#include <assay/define.hpp>
#include <assay/units.hpp>

#include <cstdint>
#include <tuple>

namespace assay::collective {

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
        NcclAlgorithm algorithm = NcclAlgorithm::own_choice;
        NcclProtocol protocol = NcclProtocol::own_choice;
    };
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
            choice("transport", "transport of the messages; fastest: NCCL's choice",
                   &Params::transport, way_names, {Way::fastest}, way_variables)};
        const auto choices = [] {
            if constexpr (has_algorithms(Operation::kind))
                return std::tuple{choice("algorithm", "as NCCL names them; default: its choice",
                                         &Params::algorithm, algorithm_names,
                                         {NcclAlgorithm::own_choice}, algorithm_variables),
                                  choice("protocol", "as NCCL names them; default: its choice",
                                         &Params::protocol, protocol_names,
                                         {NcclProtocol::own_choice}, protocol_variables)};
            else
                return std::tuple{};
        }();
        const auto type = [] {
            if constexpr (reduces(Operation::kind))
                return std::tuple{choice("type", "type of the numbers", &Params::type,
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
        return NcclGroup::fits(plan(params), machine);
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
                .choice = {.way = params.transport,
                           .algorithm = params.algorithm,
                           .protocol = params.protocol,
                           .buffers = params.buffers}};
    }
    NcclGroup group_;
};

inline constexpr const char* nccl_caveats =
    "Every call uses the same buffers: what fits in the second-level cache is read from "
    "there. " ASSAY_NCCL_CAVEAT
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
            .place = "cuda",
            .trial_bytes = 16 << 10U,
            .bound = Bound::device_links};
}

} // namespace assay::collective
