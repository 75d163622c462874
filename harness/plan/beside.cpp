// SPDX-License-Identifier: Apache-2.0

#include "json/words.hpp"
#include "plan/interleaving.hpp"
#include "plan/planner.hpp"
#include "plan/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace assay::plan {
namespace {

constexpr std::string_view on_cores = " on other cores";
constexpr std::string_view on_devices = " on other devices";

tl::unexpected<Error> refuse(const std::string& load, const std::string& why) {
    return fail(fmt::format("--while {}: {}", json::show_text(load), why));
}

/// Its cases: one, or on devices one for each of them.
Result<std::vector<PlannedCase>> cases_of(const Catalogue& catalogue, const PlanRequest& request,
                                          const std::string& load, bool devices) {
    std::istringstream words{
        load.substr(0, load.size() - (devices ? on_devices : on_cores).size())};
    auto wanted = request;
    wanted.what.assign(1, "");
    wanted.set.clear();
    wanted.only.clear();
    wanted.exclude.clear();
    wanted.budget_seconds.reset();
    words >> wanted.what.front();
    for (std::string word; words >> word;) {
        if (word.find('=') == std::string::npos)
            return refuse(load,
                          fmt::format("invalid {} (expected PARAM=VALUE)", json::show_text(word)));
        wanted.set.push_back(fmt::format("{}.{}", wanted.what.front(), word));
    }
    if (devices) wanted.devices = {"all"};
    auto plan = make_plan(catalogue, wanted);
    if (!plan) return refuse(load, plan.error().message);
    const auto& first = plan->cases.front();
    const auto differs = [&](const PlannedCase& planned) {
        return planned.benchmark != first.benchmark || planned.parameters != first.parameters;
    };
    if (std::ranges::any_of(plan->cases, differs)) {
        std::string example = fmt::format("{}[{}]", first.benchmark->id, first.module->module);
        for (const auto& [name, value] : first.parameters)
            example += fmt::format(" {}={}", name, record::to_string(value));
        return refuse(load,
                      fmt::format("{} cases match, expected one, such as '{}{}'",
                                  plan->cases.size(), example, devices ? on_devices : on_cores));
    }
    if (first.benchmark->team || first.benchmark->all_devices)
        return refuse(load, "it uses the whole machine and cannot run beside a case");
    if ((first.benchmark->place == "host") == devices)
        return refuse(load,
                      fmt::format("it runs on {}", devices ? "the host; write 'on other cores'"
                                                           : "a device; write 'on other devices'"));
    return std::move(plan->cases);
}

/// The loads beside one case, and the CPUs of all. An error says why there are none.
Result<std::vector<PlannedCase>> put_beside(PlannedCase& victim, std::vector<PlannedCase> loads,
                                            const machine::Shape& shape) {
    if (victim.benchmark->team || victim.benchmark->all_devices)
        return fail(fmt::format("{} uses the whole machine", victim.benchmark->id));
    const auto is_its = [&](const PlannedCase& load) {
        return !load.devices.empty() && !victim.devices.empty() &&
               load.devices.front().uuid == victim.devices.front().uuid;
    };
    std::erase_if(loads, is_its);
    if (loads.empty()) return fail("this machine has one device");
    const bool all_on_devices = victim.benchmark->place != "host" && !loads.front().devices.empty();
    if (all_on_devices) {
        auto devices = victim.devices;
        for (const auto& load : loads) devices.push_back(load.devices.front());
        auto shares = shares_near(devices, shape);
        victim.share = std::move(shares.front());
        for (std::size_t i = 0; i < loads.size(); ++i) loads[i].share = std::move(shares[i + 1]);
        return loads;
    }
    const auto halves = machine::even_shares(shape, 2);
    if (halves.size() < 2) return fail("this process may use only one core");
    victim.share = halves.front();
    if (victim.benchmark->place == "host") victim.together = {{"part", std::string{"1/2"}}};
    for (auto& load : loads) load.share = halves.back();
    return loads;
}

} // namespace

Result<Interleaving> beside(const Catalogue& catalogue, const PlanRequest& request,
                            const std::string& load) {
    const bool devices = load.ends_with(on_devices);
    if (!devices && !load.ends_with(on_cores))
        return refuse(load, "expected 'BENCHMARK [PARAM=VALUE ...] on other cores', or '... on "
                            "other devices'");
    auto whole = request;
    whole.budget_seconds.reset();
    whole.replicas = request.replicas.value_or(usual_pairs);
    ASSAY_TRY(auto made, make_plan(catalogue, whole));
    ASSAY_TRY(const auto loads, cases_of(catalogue, whole, load, devices));
    made.fresh_workers = true;
    const auto shape = shape_for(request);
    std::vector<std::vector<PlannedCase>> of_each;
    std::string refusal;
    for (auto& victim : made.cases) {
        auto its = put_beside(victim, loads, shape);
        of_each.push_back(its.value_or(std::vector<PlannedCase>{}));
        if (its) continue;
        refusal = its.error().message;
        victim.skip_reason = refusal;
        victim.skip_code = record::ReasonCode::not_applicable;
        victim.skip_values = {{"message", refusal}};
    }
    if (std::ranges::all_of(of_each, [](const auto& its) { return its.empty(); }))
        return refuse(load, "no case can run beside this load: " + refusal);
    Interleaving turns{.notes = std::exchange(made.notes, {})};
    turns.runs = in_turns(made, {{.label = "alone"}, {.label = "beside", .beside = load}});
    for (std::size_t i = 0; i < of_each.size(); ++i)
        turns.runs.back().plan.cases[i].loads = std::move(of_each[i]);
    for (auto& [plan, variant, pairing] : turns.runs) {
        finish_plan(plan,
                    request.budget_seconds ? std::optional{*request.budget_seconds / 2}
                                           : std::nullopt,
                    request.machine);
        turns.expected_seconds += plan.expected_seconds;
    }
    std::ranges::copy_if(
        turns.runs.front().plan.notes, std::back_inserter(turns.notes),
        [&](const auto& note) { return std::ranges::count(turns.notes, note) == 0; });
    return turns;
}

} // namespace assay::plan
