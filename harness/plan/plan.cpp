// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include "base/hash.hpp"
#include "base/nearest.hpp"
#include "base/version.hpp"
#include "json/json.hpp"
#include "json/words.hpp"
#include "plan/planner.hpp"
#include "plan/selection.hpp"
#include "plan/suite.hpp"
#include "registry/parameter.hpp"
#include "registry/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace assay::harness {
namespace {

json::Value protocol_of(const measure::Protocol& p) {
    return {p.target,       p.min_seconds, p.budget_seconds, p.limit_seconds, p.batch_floor,
            p.clock_factor, p.min_batches, p.few_batches,    p.kept_values,   p.warmup_seconds};
}

/// Two plans with equal digests measure the same code, with the same values, by the same protocol.
std::string digest_of(const Plan& plan) {
    json::Value cases = json::Value::array();
    for (const auto& planned : plan.cases) {
        json::Value parameters = json::Value::object();
        for (const auto& [name, value] : planned.parameters)
            parameters[name] = value_to_json(value);
        cases.push_back({planned.module->module, planned.module->build_id, planned.benchmark->id,
                         planned.benchmark->version, std::move(parameters),
                         record::words_of(place_of(planned)), protocol_of(planned.protocol)});
    }
    json::Value all{{"version", version()},
                    {"suite", plan.suite},
                    {"replicas", plan.replicas},
                    {"cases", std::move(cases)}};
    for (const auto& host : plan.job.hosts)
        all["hosts"].push_back({host.name, host.slots, plan.job.launcher});
    return hash_of(json::to_line(all));
}

struct Asked {
    std::optional<Suite> suite; ///< absent for benchmarks on the command line
};

/// Is it a suite, or are they benchmarks? Never both: they would need two protocols.
Result<Asked> read_asked(const Catalogue& catalogue, const std::vector<std::string>& what) {
    if (what.empty()) return fail("say what to measure: a suite or benchmarks");
    for (const auto& item : what) {
        const auto path = find_suite(item);
        if (path.empty()) continue;
        if (what.size() > 1)
            return fail(
                fmt::format("{} is a suite: name one suite, or benchmarks, not both", item));
        auto suite = read_suite(path);
        if (!suite) return tl::unexpected{suite.error()};
        return Asked{std::move(*suite)};
    }
    // A word that is neither: the nearest may be a suite.
    for (const auto& item : what) {
        const auto selector = Selector::parse(item);
        if (!selector) return tl::unexpected{selector.error()};
        const bool plain = item.find_first_of(".*?[") == std::string::npos;
        const auto ids = benchmark_ids(catalogue);
        const auto is_of_family = [&](const std::string& id) { return id.starts_with(item + "."); };
        if (plain && std::ranges::none_of(ids, is_of_family)) {
            const auto names = suite_names();
            return fail(fmt::format("there is no suite or benchmark {}{}", json::show_text(item),
                                    suggestion(item, names)));
        }
    }
    return Asked{};
}

} // namespace

record::Place place_of(const PlannedCase& planned) {
    record::Place place{.kind = planned.benchmark->place, .uuid = {}};
    if (planned.devices.size() == 1 && !planned.benchmark->all_devices) {
        place.uuid = planned.devices.front().uuid;
        place.index = planned.devices.front().index;
    }
    return place;
}

record::Case empty_case(const PlannedCase& planned) {
    record::Case c;
    c.benchmark = planned.benchmark->id;
    c.version = planned.benchmark->version;
    c.place = place_of(planned);
    c.library = planned.module->module;
    c.parameters = planned.parameters;
    c.headline = planned.benchmark->headline;
    c.status = record::Status::interrupted;
    c.reason = "not measured yet";
    return c;
}

Result<Plan> make_plan(const Catalogue& catalogue, const PlanRequest& request) {
    const auto asked = read_asked(catalogue, request.what);
    if (!asked) return tl::unexpected{asked.error()};
    const Suite* suite = asked->suite ? &*asked->suite : nullptr;
    auto selection = select_cases(catalogue, request, suite);
    if (!selection) return tl::unexpected{selection.error()};
    if (selection->cases.empty()) {
        std::string why;
        for (const auto& note : selection->notes) why += "\n  " + note;
        return fail("nothing is left to measure" + why);
    }
    Plan plan{.suite = suite != nullptr ? suite->name : "custom"};
    if (suite != nullptr) {
        plan.protocol = suite->protocol;
        plan.replicas = suite->replicas;
    }
    plan.replicas = request.replicas.value_or(plan.replicas);
    plan.job = request.job;
    plan.left_out = selection->notes;
    plan.notes = std::move(selection->notes);
    plan.cases = std::move(selection->cases);
    order_cases(plan.cases);
    finish_plan(plan, request.budget_seconds);
    return plan;
}

void finish_plan(Plan& plan, std::optional<double> budget_seconds) {
    if (budget_seconds) fit_budget(plan, *budget_seconds);
    plan.expected_seconds = expected_seconds(plan);
    plan.digest = digest_of(plan);
}

} // namespace assay::harness
