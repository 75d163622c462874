// SPDX-License-Identifier: Apache-2.0
//
// All checks of one node, and what follows from them.

#pragma once

#include "judge/evidence.hpp"
#include "judge/judgement.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::judge {

/// A run with this tag begins a new series: `assay run acceptance --tag repair="DIMM B2 replaced"`.
inline constexpr std::string_view repair_tag = "repair";

/// Basis for judging every node. May be used by several threads.
class NodeJudge {
public:
    NodeJudge(const store::Collection& collection, const Limits& limits,
              const decide::AcceptanceLevels& levels, PartChoice part, double now);

    /// Fills in its checks and its outcome. `first`: see items_of().
    void operator()(Node& node, const std::vector<std::size_t>& first) const;

    /// Series and remarks of this node.
    struct Context;

private:
    std::vector<std::uint32_t> runs_of_parts(const Node& node) const;
    std::optional<std::uint32_t> counts_for(const Node& node, std::uint32_t run,
                                            std::uint32_t series) const;
    void check_parts(Context& context) const;
    void check_limits(Context& context) const;
    void check_limit(Context& context, std::uint32_t limit) const;
    void check_item(Context& context, std::uint32_t limit, const Item& item, bool at_least) const;
    void check_devices(Context& context, std::uint32_t limit) const;
    void check_telemetry(Context& context) const;
    void check_throttling(Context& context) const;
    void check_records(Context& context) const;
    void drop_copies(Context& context) const;
    void add_parts(Context& context) const;
    bool is_judged(std::string_view part) const;
    void check_cases(Context& context) const;
    void check_soaks(Context& context) const;
    void add_soak(Context& context, const PartFinding& found) const;
    void tell_apart(std::span<Check> checks) const;
    void decide(Context& context) const;
    void waive(Context& context) const;

    const store::Collection& collection_;
    const Limits& limits_;
    decide::AcceptanceLevels levels_;
    PartChoice part_;
    double now_;
    std::vector<std::uint32_t> groups_; ///< for each series
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t>
        series_at_; ///< by group and place
    std::map<std::string, std::vector<std::uint32_t>, std::less<>>
        runs_with_; ///< by the id of a device that was in their machine
    /// By the id in their files those machines that strong facts tell apart, each with a file.
    std::map<std::string, std::map<std::string, std::string>> machines_of_;
    std::vector<std::vector<bool>> of_series_;  ///< for each limit and series: is it for it?
    std::vector<std::vector<bool>> of_machine_; ///< for each limit and machine
    std::vector<std::vector<std::uint32_t>>
        closer_; ///< for each limit those that answer its question more closely
};

/// State of a node while it is judged.
struct NodeJudge::Context {
    Node& node;
    const record::Machine& machine;
    /// The node's runs and earlier ones of its devices in other nodes, the oldest first; Seen::run is an index into it.
    std::vector<std::uint32_t> runs{};
    std::vector<Item> items{};
    std::vector<bool> has_limit; ///< for each item
    bool any_limit = false;
    bool any_soak = false;

    /// A check that waits for the others of the node, by its index.
    struct Test {
        std::size_t check;
        decide::PassTest pass;
        decide::Acceptance fail;
        double fail_anyway;            ///< its p_fail, were there no neighbours
        decide::AcceptanceNoise noise; ///< of FAIL
        std::size_t newest;            ///< replicas of the newest run
        std::size_t undisturbed;       ///< of these
        Cause disturbed_by;            ///< what disturbed the others
        std::optional<double> overall; ///< the value over all runs
    };
    std::vector<Test> tests;

    Check& add(Cause cause, std::string id) {
        const auto meaning = meaning_of(cause);
        return node.checks.emplace_back(Check{.id = std::move(id),
                                              .outcome = meaning.outcome,
                                              .cause = cause,
                                              .action = meaning.action});
    }
    /// A finding: nobody asked for it, so it does not count as a check that ran.
    Check& find(Cause cause, std::string id) {
        auto& check = add(cause, std::move(id));
        check.required = false;
        return check;
    }
};

} // namespace assay::judge
