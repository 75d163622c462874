// SPDX-License-Identifier: Apache-2.0
#include "run/order.hpp"

#include "decide/expectations.hpp"
#include "plan/planner.hpp"
#include "record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <utility>

namespace assay::run {
namespace {

/// Again when the first ones are all disturbed.
constexpr int most_in_vain = 2;

bool is_quiet(const record::Case& c, int index) {
    const auto found = std::ranges::find(c.replicas, index, &record::Replica::index);
    return found != c.replicas.end() && record::is_measured(found->status) &&
           found->status != record::Status::disturbed;
}

bool is_measured(const record::Case& c) {
    return c.spread && !c.replicas.empty() &&
           std::ranges::all_of(
               c.replicas, [](const auto& replica) { return record::is_measured(replica.status); });
}

/// Not open where no limit is about it.
Judged judged(const record::Case& c, const Judgement* judgement) {
    if (judgement == nullptr) return {};
    const auto found = judgement->find(record::identity(c));
    return found == judgement->end() ? Judged{} : found->second;
}

} // namespace

std::vector<double> steps_of(const std::vector<plan::PlannedRun>& runs) {
    std::vector<double> seconds;
    for (const auto& run : runs)
        std::ranges::copy(plan::expected_steps(run.plan), std::back_inserter(seconds));
    return seconds;
}

std::vector<std::size_t> order_of(const plan::Plan& plan, std::optional<std::int64_t> seed,
                                  int replica) {
    std::map<std::size_t, std::vector<std::size_t>> blocks;
    std::vector<std::size_t> names; // in the order of the plan
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
        if (plan.cases[i].with_previous) continue;
        auto& block = blocks[plan.cases[i].block];
        if (block.empty()) names.push_back(plan.cases[i].block);
        block.push_back(i);
    }
    if (seed) {
        std::seed_seq words{static_cast<std::uint32_t>(*seed), static_cast<std::uint32_t>(replica)};
        std::mt19937 random{words};
        // std::shuffle may differ between libraries; the bias of the remainder is below 1e-6.
        for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[random() % i]);
    }
    std::vector<std::size_t> order;
    for (const auto name : names)
        order.insert(order.end(), blocks[name].begin(), blocks[name].end());
    return order;
}

bool is_open(const record::Case& c, int replica) {
    if (c.spread && replica >= c.spread->replicas) return false;
    if (c.replicas.empty()) return c.status == record::Status::interrupted;
    return std::ranges::none_of(c.replicas, [&](const auto& done) {
        return done.index == replica || !record::is_measured(done.status);
    });
}

int undisturbed_on_all(const std::vector<const record::Case*>& sides) {
    int count = 0;
    for (const auto& replica : sides.front()->replicas)
        if (std::ranges::all_of(
                sides, [&](const record::Case* side) { return is_quiet(*side, replica.index); }))
            ++count;
    return count;
}

bool wants_another(const std::vector<const record::Case*>& sides, int again,
                   const Judgement* judgement) {
    if (!std::ranges::all_of(sides, [](const auto* side) { return is_measured(*side); }))
        return false;
    const auto of_judge = [&](const auto* side) { return judged(*side, judgement); };
    if (judgement != nullptr && std::ranges::none_of(sides, &Judged::is_open, of_judge))
        return false;
    if (std::ranges::any_of(sides, [&](const auto* side) {
            return std::cmp_less(side->replicas.size(), of_judge(side).replicas);
        }))
        return true;
    // Stress takes as long as everything else.
    if (record::find(sides.front()->parameters, "stress") != nullptr) return false;
    const int wanted = sides.front()->spread->replicas;
    const int quiet = undisturbed_on_all(sides);
    if (std::ranges::all_of(sides, [](const auto* side) { return record::fastest_agree(*side); }))
        return false;
    return quiet < wanted && (quiet > 0 || again < most_in_vain);
}

bool is_enough(const std::vector<const record::Case*>& sides, std::optional<int> fewest,
               const Judgement* judgement) {
    return std::ranges::all_of(sides, [&](const auto* side) {
        if (!is_measured(*side)) return false;
        const auto count = static_cast<int>(side->replicas.size());
        if (judgement != nullptr) return count >= 2 && !judged(*side, judgement).is_open;
        return fewest && count >= *fewest && record::undisturbed(*side) == count &&
               record::fastest_agree(*side);
    });
}

int next_index(const std::vector<const record::Case*>& sides) {
    int next = 0;
    for (const auto* side : sides)
        if (!side->replicas.empty()) next = std::max(next, side->replicas.back().index + 1);
    return next;
}

Room room_for(const plan::Plan& plan, std::size_t index, int replica, double end,
              std::optional<double> limit_seconds, std::size_t variants) {
    const bool is_long = plan.cases[index].benchmark->long_calls.value_or(false);
    const bool in_budget =
        !is_long || !plan.hard_seconds || end <= *plan.hard_seconds * static_cast<double>(variants);
    const bool in_limit = end <= limit_seconds.value_or(end);
    const bool in_plan = replica == 0 || end <= plan.most_seconds.value_or(end);
    return {.is_there = in_limit && in_budget && in_plan,
            .is_over = !in_limit || (!in_budget && replica == 0)};
}

bool is_always_busy(const std::vector<const record::Case*>& cases) {
    constexpr std::size_t fewest = 3;
    constexpr std::size_t one_in =
        20; // may look undisturbed by chance: short windows, counting in ticks
    std::size_t measured = 0;
    std::size_t quiet = 0;
    for (const auto* c : cases) {
        quiet += static_cast<std::size_t>(record::undisturbed(*c));
        measured += static_cast<std::size_t>(std::ranges::count_if(
            c->replicas, [](const auto& replica) { return record::is_measured(replica.status); }));
    }
    return measured >= fewest && quiet * one_in <= measured;
}

// --- stages --------------------------------------------------------------------------------------

namespace {

bool is_wrong(const record::Case& c) {
    return std::ranges::any_of(c.replicas, [](const record::Replica& replica) {
        return replica.status == record::Status::incorrect;
    });
}

void append(std::string& list, std::string_view item) {
    if (!list.empty()) list += ", ";
    list += item;
}

} // namespace

std::vector<Rounds> rounds_of(const plan::Plan& plan) {
    using record::StageName;
    if (!plan.has_stages) return {{.stage = StageName::performance, .last = plan.replicas}};
    std::vector<Rounds> all{{.stage = StageName::validation, .last = 1},
                            {.stage = StageName::performance, .first = 1, .last = plan.replicas}};
    if (std::ranges::any_of(plan.cases, &plan::PlannedCase::is_stress))
        all.push_back({.stage = StageName::stress, .last = 1, .of_stress = true});
    return all;
}

record::StageEnd sanity_of(const record::Machine& machine,
                           const std::vector<std::string>& expected) {
    return decide::check_expectations(machine, expected) ? record::StageEnd::done
                                                         : record::StageEnd::part_missing;
}

record::StageEnd end_of(const std::vector<const record::Case*>& cases) {
    return std::ranges::any_of(cases, [](const auto* c) { return is_wrong(*c); })
               ? record::StageEnd::wrong_result
               : record::StageEnd::done;
}

std::string why_stopped(record::StageEnd end, const std::vector<const record::Case*>& cases,
                        const record::Machine& machine, const std::vector<std::string>& expected) {
    std::string list;
    if (end == record::StageEnd::part_missing) {
        for (const auto& one : expected)
            if (const auto found = decide::unmet(machine, one); found && *found)
                append(list, fmt::format("{} (expected {})", **found, one));
        return fmt::format("nothing was measured: the machine has {}", list);
    }
    if (end != record::StageEnd::wrong_result) return {};
    for (const auto* c : cases)
        if (is_wrong(*c)) append(list, fmt::format("{} ({})", c->benchmark, c->library));
    return fmt::format("later stages were not begun: wrong results of {}", list);
}

} // namespace assay::run
