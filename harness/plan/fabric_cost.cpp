// SPDX-License-Identifier: Apache-2.0
#include "plan/fabric_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <variant>

namespace assay::harness {
namespace {

// As in benchmarks/collective/fabric.cpp: pairs that play alone, and seconds of a pass over all of it.
constexpr std::uint64_t most_alone = 128 + 192;
constexpr double seconds_of_pass = 1;

std::uint64_t ranks_of(const PlannedCase& planned, const Job& job) {
    const auto* ranks = record::find(planned.parameters, "ranks");
    if (ranks != nullptr)
        if (const auto* number = std::get_if<std::int64_t>(ranks))
            return static_cast<std::uint64_t>(*number);
    if (ranks == nullptr || record::to_string(*ranks) == "per_node") return job.hosts.size();
    std::uint64_t sum = 0;
    for (const auto& host : job.hosts) sum += static_cast<std::uint64_t>(std::max(host.slots, 1));
    return sum;
}

} // namespace

std::string fabric_cost(const PlannedCase& planned, const Job& job) {
    if (planned.benchmark->id != "collective.fabric" || job.hosts.size() < 2) return {};
    const auto ranks = ranks_of(planned, job);
    const auto* random = record::find(planned.parameters, "random");
    const auto* number = random == nullptr ? nullptr : std::get_if<std::int64_t>(random);
    if (ranks < 2 || number == nullptr) return {};
    const auto all = ranks - 1 + ranks % 2;
    const auto some = static_cast<std::uint64_t>(std::bit_width(ranks - 1) + *number);
    const auto rounds = std::min(all, some);
    const auto pairs = ranks * (ranks - 1) / 2;
    const auto covered = std::min(rounds * (ranks / 2), pairs);
    return fmt::format(
        "{} on {} ranks: {} rounds of {} pairs at once cover {} of {} pairs ({:.3g}%), then up to "
        "{} "
        "pairs play alone; a pass over all of it takes {:g} s at most unless the whole network is "
        "slow, and is repeated for {:g} to {:g} s in each replica",
        planned.benchmark->id, ranks, rounds, ranks / 2, covered, pairs,
        100.0 * static_cast<double>(covered) / static_cast<double>(pairs),
        std::min(most_alone, pairs), seconds_of_pass, planned.protocol.min_seconds,
        planned.protocol.budget_seconds);
}

} // namespace assay::harness
