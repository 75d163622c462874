// SPDX-License-Identifier: Apache-2.0
#include "run/stages.hpp"

#include "decide/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::harness {
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

std::vector<Rounds> rounds_of(const Plan& plan) {
    using record::StageName;
    if (!plan.has_stages) return {{.stage = StageName::performance, .last = plan.replicas}};
    std::vector<Rounds> all{{.stage = StageName::validation, .last = 1},
                            {.stage = StageName::performance, .first = 1, .last = plan.replicas}};
    if (std::ranges::any_of(plan.cases, &PlannedCase::is_stress))
        all.push_back({.stage = StageName::stress, .last = plan.replicas, .of_stress = true});
    return all;
}

record::StageEnd sanity_of(const record::Machine& machine,
                           const std::vector<std::string>& expected) {
    return record::check_expectations(machine, expected) ? record::StageEnd::done
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
            if (const auto found = record::unmet(machine, one); found && *found)
                append(list, fmt::format("{} (expected {})", **found, one));
        return fmt::format("nothing was measured: the machine has {}", list);
    }
    if (end != record::StageEnd::wrong_result) return {};
    for (const auto* c : cases)
        if (is_wrong(*c)) append(list, fmt::format("{} ({})", c->benchmark, c->library));
    return fmt::format("later stages were not begun: wrong results of {}", list);
}

} // namespace assay::harness
