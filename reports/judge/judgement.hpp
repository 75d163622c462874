// SPDX-License-Identifier: Apache-2.0
//
// A judgement: nodes, and the checks of each.

#pragma once

#include "base/names.hpp"
#include "decide/acceptance.hpp"
#include "judge/limits.hpp"
#include "judge/parts.hpp"
#include "store/collection.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::judge {

/// A value beside the three references: shares of 1.
struct References {
    std::optional<double> of_datasheet;
    std::optional<double> of_fleet;    ///< of the median of all nodes of its type that measured it
    std::optional<std::size_t> slower; ///< nodes of these that are slower
    std::optional<std::size_t> nodes;
    std::optional<double> of_contract; ///< of the contract's bound; above 1 is better
};

struct Check {
    std::string id; ///< of the limit; "expect:gpu=8", "telemetry:link_narrow", "case:gemm.square"
    /// "host", "cuda:0", "fabric" (several devices or hosts), "devices" (any of them), "node" (what is of no part).
    std::string part = "node";
    std::optional<std::uint32_t> limit;  ///< index into Judgement::limits
    std::optional<std::uint32_t> series; ///< index into Collection::series
    Outcome outcome = Outcome::inconclusive;
    Cause cause = Cause::none;
    Action action = Action::none;
    bool required = true;
    bool at_least = true; ///< or at most
    std::string unit;
    std::optional<double> value; ///< of the newest run, as its report has it
    std::optional<double> low;   ///< 95% interval
    std::optional<double> high;
    record::Knowledge knowledge = record::Knowledge::none; ///< of the value
    std::optional<double> bound;
    std::size_t replicas = 0;
    std::size_t runs = 0;
    std::optional<double> p_pass;       ///< see decide::Acceptance
    std::optional<double> p_fail;       ///< adjusted for all checks of the node
    std::optional<std::size_t> repeats; ///< replicas that would decide
    bool is_warm =
        true; ///< a device had worked for 2 s before each window, as far as the files say
    bool is_hot = false; ///< about the last stage of an acceptance run, stress
    References beside;
    std::string detail;                  ///< what was found: "gpu=7", "mc0 ce_count: 0 to 3"
    record::NamedList which;             ///< parameters that set it apart from others of its limit
    std::optional<std::uint32_t> waiver; ///< index into Limits::waivers
    Cause waived = Cause::none;          ///< what it accepts
};

/// Result of a part of a node.
struct PartOutcome {
    std::string part;
    Outcome outcome = Outcome::pass;
    bool measured = false; ///< one of its checks at least has a value
};

struct Node {
    std::uint32_t machine = 0; ///< index into Collection::machines, as its newest run found it
    std::string campaign;
    std::vector<std::uint32_t> runs; ///< that count, oldest first
    std::size_t before_repair = 0;   ///< older runs, which do not
    std::string repair;              ///< the tag of the run that began the series
    std::string
        unordered; ///< file of a run that may be from before or after that repair; else empty
    Outcome outcome = Outcome::inconclusive;
    std::vector<Check> checks;      ///< the worst first
    std::vector<PartOutcome> parts; ///< host, devices, fabric
    std::size_t required = 0;       ///< checks that must be there
    std::size_t ran = 0;            ///< of these, those that were decided or tested
    std::size_t not_judged = 0;     ///< cases with a value and no limit
};

/// One judged question on a node.
ASSAY_ENUM(PartChoice, all, host, devices)

struct Judgement {
    store::Collection collection;
    Limits limits;
    decide::AcceptanceLevels levels;
    PartChoice part = PartChoice::all;
    std::vector<Node> nodes; ///< the worst first
    Outcome outcome = Outcome::inconclusive;
    std::vector<std::string> filter; ///< as asked for
    std::string campaign;            ///< the same
};

} // namespace assay::judge
