// SPDX-License-Identifier: Apache-2.0
//
// What NodeJudge knows of a node while it judges it.

#pragma once

#include "judge/node.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {

struct NodeJudge::Context {
    Node& node;
    const record::Machine& machine;
    std::vector<Item> items;
    std::vector<bool> has_limit; ///< for each item
    bool any_limit = false;
    bool any_soak = false;

    /// A check that waits for the others of the node, by its index.
    struct Test {
        std::size_t check;
        stats::PassTest pass;
        stats::Acceptance fail;
        double fail_anyway;            ///< its p_fail, were there no neighbours
        stats::AcceptanceNoise noise;  ///< of FAIL
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

} // namespace assay::report
