// SPDX-License-Identifier: Apache-2.0
//
// All checks of one node, and what follows from them.

#pragma once

#include "judge/evidence.hpp"
#include "judge/judgement.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace assay::report {

/// A run with this tag begins a new series: `assay run acceptance --tag repair="DIMM B2 replaced"`.
inline constexpr std::string_view repair_tag = "repair";

/// What every node is judged by. May be used by several threads.
class NodeJudge {
public:
    NodeJudge(const Collection& collection, const Limits& limits,
              const stats::AcceptanceLevels& levels, PartChoice part, double now);

    /// Fills in its checks and its outcome. `first`: see items_of().
    void operator()(Node& node, const std::vector<std::size_t>& first) const;

    /// Who measured what on this node, and what is to be said of it.
    struct Context;

private:
    void check_parts(Context& context) const;
    void check_limits(Context& context) const;
    void check_limit(Context& context, std::uint32_t limit) const;
    void check_item(Context& context, std::uint32_t limit, const Item& item, bool at_least) const;
    void check_devices(Context& context, std::uint32_t limit) const;
    void check_telemetry(Context& context) const;
    void check_throttling(Context& context) const;
    void add_parts(Context& context) const;
    bool is_judged(std::string_view part) const;
    void check_cases(Context& context) const;
    void check_soaks(Context& context) const;
    void tell_apart(std::span<Check> checks) const;
    void decide(Context& context) const;
    void waive(Context& context) const;

    const Collection& collection_;
    const Limits& limits_;
    stats::AcceptanceLevels levels_;
    PartChoice part_;
    double now_;
    std::vector<std::uint32_t> groups_;         ///< for each series
    std::vector<std::vector<bool>> of_series_;  ///< for each limit and series: is it for it?
    std::vector<std::vector<bool>> of_machine_; ///< for each limit and machine
    std::vector<std::vector<std::uint32_t>>
        closer_; ///< for each limit those that answer its question more closely
};

} // namespace assay::report
