// SPDX-License-Identifier: Apache-2.0
//
// Which algorithms may explain measured times, and predict others: each as the terms that its latencies
// and bytes are multiplied with. Terms 0 and 1 are latency and bytes within a node, 2 and 3 between nodes.

#pragma once

#include "predict/points.hpp"
#include "stats/least_squares.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

struct Layout {
    double nodes = 1;
    double ranks_per_node = 1;
    auto operator<=>(const Layout&) const = default;
    double ranks() const { return nodes * ranks_per_node; }
};

/// One way to do a collective. Levels have an algorithm within nodes and one between; `over_all` alone is an
/// algorithm over all ranks, whichever node they are on; none of them is what was measured as it is.
struct CostWay {
    std::optional<Algorithm> within;
    std::optional<Algorithm> between;
    std::optional<Algorithm> over_all;

    /// Nothing where it cannot be done so.
    std::optional<stats::Terms> terms(Collective collective, const Layout& layout,
                                      double bytes) const;
    bool is_whole() const { return !over_all && !(within && between); }
    std::string in_words() const;
};

/// Ways worth trying for the target, given that the layouts were measured; `wanted` alone where given.
/// Where the target was measured itself it is predicted from that, and no algorithm is assumed.
std::vector<CostWay> ways_for(Collective collective, const Layout& target,
                              const std::vector<Layout>& measured,
                              const std::optional<Algorithm>& wanted);

} // namespace assay::report
