// SPDX-License-Identifier: Apache-2.0
#include "plan/planner.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "json/json.hpp"
#include "json/words.hpp"
#include "plan/filter.hpp"
#include "plan/groups.hpp"
#include "plan/parameter.hpp"
#include "plan/together.hpp"
#include "record/convert.hpp"
#include "record/format.hpp"
#include "record/noise.hpp"
#include "stats/fast_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace assay::plan {
namespace {

// Seconds, as measured with the shipped suites on two cores.
constexpr double worker_start = 0.1;   // exec, load, inventory
constexpr double team_start = 0.6;     // the same under mpirun
constexpr double case_setup = 0.2;     // allocate, fill, verify before and after
constexpr double warmup_share = 0.5;   // warming up ends when the rate is steady, about half way
constexpr double measured_share = 1.3; // looks come at 1.3 times the number of batches

// Seconds below which a value is useless.
constexpr double least_measured = 0.1;
constexpr double least_warmup = 0.1;

/// Arguments of a worker: the requested number of threads or processes, and the place.
std::string team_of(const PlannedCase& planned) {
    std::string team;
    for (const char* name : {"ranks", "threads"})
        if (const auto* value = record::find(planned.parameters, name))
            team += fmt::format("{}={} ", name, record::to_string(*value));
    return team + record::words_of(place_of(planned));
}

/// A benchmark and the benchmarks that measure its bounds are one cluster, and so are clusters that share a
/// benchmark: one with two bounds (by precision) joins both.
class Clusters {
public:
    explicit Clusters(const std::vector<PlannedCase>& cases) {
        for (const auto& planned : cases)
            for (const auto& id : ceiling_ids(*planned.benchmark)) {
                const std::string joined = of(id);
                parent_[joined] = of(planned.benchmark->id);
            }
    }
    /// The name of the cluster: one of its benchmarks.
    std::string of(const std::string& id) const {
        const auto found = parent_.find(id);
        return found == parent_.end() || found->second == id ? id : of(found->second);
    }

private:
    std::map<std::string, std::string> parent_;
};

/// Numbers keys in the order of their first appearance.
template <class Key>
class Appearance {
public:
    std::size_t of(const Key& key) {
        return numbers_.try_emplace(key, numbers_.size()).first->second;
    }

private:
    std::map<Key, std::size_t> numbers_;
};

/// Workers that are started in all replicas.
int workers_of(const Plan& plan, bool team) {
    int count = 0;
    const PlannedCase* before = nullptr;
    for (const auto& planned : plan.cases) {
        if (!planned.skip_reason.empty() || planned.with_previous) continue;
        const bool same = !plan.fresh_workers && before != nullptr &&
                          before->benchmark == planned.benchmark &&
                          team_of(*before) == team_of(planned);
        if (!same && planned.benchmark->team == team) count += replicas_of(plan, planned);
        before = &planned;
    }
    return count;
}

/// Steps of all replicas; cases measured at once count as one.
int steps_of(const Plan& plan) {
    int steps = 0;
    for (const auto& planned : plan.cases)
        if (!planned.with_previous) steps += replicas_of(plan, planned);
    return steps;
}

/// Time beyond the protocol: starting workers and setting up cases.
double fixed_seconds(const Plan& plan) {
    return workers_of(plan, false) * worker_start + workers_of(plan, true) * team_start +
           steps_of(plan) * case_setup;
}

/// How long its program measures in each call, a parameter of its own; null: it has none, or its calls are short.
const std::int64_t* run_time_of(const PlannedCase& planned) {
    const auto* const value = planned.benchmark->long_calls.value_or(false)
                                  ? record::find(planned.parameters, "seconds")
                                  : nullptr;
    return value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
}
/// A replica calls it twice for the checks and once for the value; each call starts it, and looks at what it did.
constexpr double long_calls = 3;
constexpr double beside_call = 1.2; // fio on files of 256 MiB

double measured_seconds(const PlannedCase& planned) {
    if (!planned.skip_reason.empty() || planned.with_previous) return 0;
    if (const auto* const time = run_time_of(planned))
        return long_calls * (static_cast<double>(*time) + beside_call);
    const auto& p = planned.protocol;
    return (p.warmup_seconds * warmup_share) +
           std::min(p.budget_seconds, p.min_seconds * measured_share);
}

/// The longest time that a case may take.
double most_seconds(const record::Protocol& p) { return p.warmup_seconds + p.budget_seconds; }
double most_seconds(const PlannedCase& planned) {
    return run_time_of(planned) != nullptr ? measured_seconds(planned)
                                           : most_seconds(planned.protocol);
}

/// The limit on the time of each case with which all of them together take `seconds`: short cases keep
/// their time and leave the rest to the long ones.
double cap_for(const std::vector<PlannedCase>& cases, double seconds) {
    std::vector<double> wanted;
    for (const auto& planned : cases)
        if (!planned.with_previous) wanted.push_back(most_seconds(planned));
    std::ranges::sort(wanted);
    double left = seconds;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double equal = left / static_cast<double>(wanted.size() - i);
        if (wanted[i] >= equal) return equal;
        left -= wanted[i];
    }
    return wanted.empty() ? 0 : wanted.back();
}

/// A third of the time for warm-up: the measurement matters more.
void cut(record::Protocol& p, double seconds) {
    if (seconds >= most_seconds(p)) return;
    const double warmup =
        std::clamp(seconds / 3, std::min(least_warmup, p.warmup_seconds), p.warmup_seconds);
    p.budget_seconds =
        std::clamp(seconds - warmup, std::min(least_measured, p.budget_seconds), p.budget_seconds);
    p.warmup_seconds = warmup;
    p.min_seconds = std::min(p.min_seconds, p.budget_seconds);
}

/// The run time of another program, unless somebody chose one: as much of its default as fits, in whole seconds.
void cut_run_time(PlannedCase& planned, double seconds) {
    const auto* const time = run_time_of(planned);
    const auto parameter =
        std::ranges::find(planned.benchmark->parameters, "seconds", &Parameter::name);
    if (time == nullptr || parameter == planned.benchmark->parameters.end() ||
        std::ranges::count(parameter->defaults, record::Value{*time}) == 0)
        return;
    const auto whole = static_cast<std::int64_t>((seconds / long_calls) - beside_call);
    const auto shorter = std::clamp(whole, std::min(parameter->integer_low, *time), *time);
    for (auto& [name, value] : planned.parameters)
        if (name == "seconds") value = shorter;
}

/// Two may agree by chance.
constexpr int fewest_replicas = 3;

/// Beside its measuring: set-up, checks, and what a busy machine adds.
constexpr double most_beside = 20; // seconds

/// A case that hangs may cost what the budget leaves beside the others, not the whole of its usual limit. The engine
/// ends a window at half of the limit, so that is never less than twice what the case may measure.
void limit_hangs(Plan& plan, double seconds) {
    const double expected = expected_seconds(plan);
    for (auto& planned : plan.cases) {
        auto& p = planned.protocol;
        const double left = seconds - expected + measured_seconds(planned);
        p.limit_seconds =
            std::min(p.limit_seconds, std::max(left, 2 * most_seconds(planned)) + most_beside);
    }
}

} // namespace

void order_cases(std::vector<PlannedCase>& cases) {
    using Rank = std::tuple<std::size_t, std::size_t, int, std::size_t>;
    const Clusters groups{cases};
    Appearance<std::string> clusters;
    Appearance<std::string> teams;
    Appearance<const Benchmark*> benchmarks; // of one module
    std::vector<std::pair<Rank, std::size_t>> order;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto& planned = cases[i];
        order.emplace_back(Rank{clusters.of(groups.of(planned.benchmark->id)),
                                teams.of(team_of(planned)), planned.benchmark->is_ceiling ? 0 : 1,
                                benchmarks.of(planned.benchmark)},
                           i); // the index keeps the order within a group
    }
    std::ranges::sort(order);
    std::vector<PlannedCase> ordered;
    ordered.reserve(cases.size());
    for (const auto& [rank, index] : order) {
        cases[index].block = std::get<0>(rank);
        ordered.push_back(std::move(cases[index]));
    }
    cases = std::move(ordered);
}

double expected_seconds(const Plan& plan) {
    double seconds = fixed_seconds(plan);
    for (const auto& planned : plan.cases)
        seconds += measured_seconds(planned) * replicas_of(plan, planned);
    return seconds;
}

std::vector<double> expected_steps(const Plan& plan) {
    const double fixed = fixed_seconds(plan) / std::max(steps_of(plan), 1);
    std::vector<double> seconds;
    for (const auto& planned : plan.cases)
        seconds.push_back(planned.with_previous ? 0 : fixed + measured_seconds(planned));
    return seconds;
}

void fit_budget(Plan& plan, double seconds) {
    double wanted = 0;
    for (const auto& planned : plan.cases)
        if (!planned.with_previous) wanted += most_seconds(planned);
    const double left = std::max(seconds - fixed_seconds(plan), 0.0) / plan.replicas;
    if (left >= wanted) return; // fits even at its longest
    const double cap = cap_for(plan.cases, left);
    for (auto& planned : plan.cases) {
        cut(planned.protocol, cap);
        cut_run_time(planned, cap);
    }
    cut(plan.protocol, cap);
    plan.notes.push_back(
        fmt::format("to fit into {:.0f} s, each replica of a case measures for at most {:.2g} s "
                    "after {:.2g} s of warm-up",
                    seconds, plan.protocol.budget_seconds, plan.protocol.warmup_seconds));
    if (const double needed = expected_seconds(plan); needed > seconds)
        plan.notes.push_back(
            fmt::format("the budget of {:.0f} s is too small for these cases: "
                        "expect {:.0f} s, or choose fewer cases (--only, --exclude) or "
                        "--replicas{}",
                        seconds, needed,
                        std::ranges::any_of(plan.cases, run_time_of)
                            ? "; external programs that do not fit are not measured"
                            : ""));
}

namespace {

/// Keeping samples does not change the measurement.
json::Value protocol_of(const record::Protocol& protocol) {
    json::Value values = json::Value::array();
    each_field(
        [&](std::string_view key, const auto& value) {
            if (key != "keep_samples") values.push_back(value);
        },
        protocol);
    return values;
}

/// Two plans with equal digests measure the same code, with the same values, by the same protocol.
std::string digest_of(const Plan& plan) {
    json::Value cases = json::Value::array();
    for (const auto& planned : plan.cases) {
        cases.push_back({planned.module->module, planned.module->build_id, planned.benchmark->id,
                         planned.benchmark->version, record::to_json(parameters_of(planned)),
                         record::words_of(place_of(planned)), protocol_of(planned.protocol)});
        for (const auto& load : planned.loads)
            cases.back().push_back({load.module->module, load.module->build_id, load.benchmark->id,
                                    load.benchmark->version, record::to_json(load.parameters),
                                    record::words_of(place_of(load))});
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

/// A suite or benchmarks? Not both: they would need two protocols.
Result<Asked> read_asked(const Catalogue& catalogue, const std::vector<std::string>& what) {
    if (what.empty()) return fail("name a suite or benchmark; `assay list` shows them");
    for (const auto& item : what) {
        const auto path = find_suite(item);
        if (path.empty()) continue;
        if (what.size() > 1)
            return fail(fmt::format("{} is a suite; name either one suite or benchmarks", item));
        ASSAY_TRY(auto suite, read_suite(path));
        return Asked{std::move(suite)};
    }
    // A word that is neither: the nearest name may be a suite.
    for (const auto& item : what) {
        ASSAY_TRY(Selector::parse(item));
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

/// Other values than those of the same cases alone: every call is timed by itself, beside comparisons. How long it goes
/// on is not part of the plan's digest: one may continue for longer.
Result<void> make_soak(Plan& plan) {
    if (plan.has_stages)
        return fail("--for: a suite with stages cannot soak (expected a suite without stages, or "
                    "benchmarks)");
    for (auto& planned : plan.cases) {
        planned.protocol.soaks = true;
        planned.together.push_back({"soak", true});
    }
    plan.patience_seconds = 0;
    return {};
}

} // namespace

Result<Plan> make_plan(const Catalogue& catalogue, const PlanRequest& request) {
    ASSAY_TRY(const auto asked, read_asked(catalogue, request.what));
    const Suite* suite = asked.suite ? &*asked.suite : nullptr;
    ASSAY_TRY(auto selection, select_cases(catalogue, request, suite));
    auto& shown = selection.notes;
    auto& left_out = selection.left_out;
    left_out.insert(left_out.end(), shown.begin(), shown.end());
    for (const auto& note : {selection.not_installed, selection.no_hardware})
        if (!note.empty()) shown.insert(shown.begin(), note);
    if (selection.cases.empty()) {
        std::string why;
        for (const auto& note : shown) why += "\n  " + note;
        return fail("nothing is left to measure" + why);
    }
    Plan plan{.suite = suite != nullptr ? suite->name : "custom"};
    if (suite != nullptr) {
        plan.protocol = suite->protocol;
        plan.replicas = suite->replicas;
        plan.patience_seconds = suite->patience_seconds;
        plan.most_seconds = suite->most_seconds;
        plan.has_stages = suite->has_stages;
        plan.soak_seconds = suite->soak_seconds;
    }
    plan.replicas = request.replicas.value_or(plan.replicas);
    if (request.replicas)
        plan.most_seconds.reset(); // exactly these
    else
        plan.fewest_replicas = std::min(plan.replicas, fewest_replicas);
    if (request.soak_seconds) plan.soak_seconds = request.soak_seconds;
    plan.job = request.job;
    plan.left_out = std::move(left_out);
    plan.notes = std::move(shown);
    plan.no_hardware = std::move(selection.no_hardware);
    plan.cases = std::move(selection.cases);
    plan.not_here = std::move(selection.not_here);
    order_cases(plan.cases);
    for (const auto& planned : plan.cases)
        if (auto cost = fabric_cost(planned, plan.job); !cost.empty())
            plan.notes.push_back(std::move(cost));
    ASSAY_TRY(spread_out(plan.cases, request, plan.soak_seconds.has_value()));
    if (plan.soak_seconds) ASSAY_TRY(make_soak(plan));
    finish_plan(plan, request.budget_seconds, request.machine);
    return plan;
}

namespace {

/// Rest of a budget for the whole run; 0 if too little for another replica and a quiet moment.
double rest_of(double budget_seconds, double expected_seconds) {
    constexpr double least = 5;
    const double rest = budget_seconds - expected_seconds;
    return rest < least ? 0 : rest;
}

void expect_spread(Plan& plan, const record::Machine& machine) {
    for (auto& planned : plan.cases) {
        const auto work = to_string(planned.benchmark->noise);
        const auto place = record::noise_place(empty_case(planned), machine);
        planned.spread =
            record::expected_spread(record::noise_level(work, place), planned.protocol.target,
                                    replicas_of(plan, planned), std::string{work});
    }
}

/// Targets that so many replicas cannot reach, because processes differ by more.
void note_targets(Plan& plan) {
    std::map<std::string, std::string> kinds;
    for (const auto& planned : plan.cases) {
        const auto& spread = *planned.spread;
        const double target = planned.protocol.target;
        const double usual = stats::expected_half_width(
            {.deviation = spread.between_replicas, .degrees = spread.degrees},
            static_cast<std::size_t>(plan.replicas));
        const bool known = planned.benchmark->noise != Noise::unknown;
        const double needed = std::ceil(std::pow(2 * spread.between_replicas / target, 2));
        if (!known || needed <= plan.replicas || planned.is_stress || !planned.skip_reason.empty())
            continue;
        kinds.try_emplace(spread.source, fmt::format("{} ±{} ({})", spread.source,
                                                     record::human_percent(usual), needed));
    }
    std::string words;
    for (const auto& [kind, text] : kinds) words += (words.empty() ? "" : ", ") + text;
    if (!words.empty())
        plan.notes.push_back(fmt::format(
            "{} replica{} will not reach ±{:g}% for all cases. Usual intervals, and in brackets "
            "the replicas that ±{:g}% would take: {}",
            plan.replicas, plan.replicas == 1 ? "" : "s", plan.protocol.target * 100,
            plan.protocol.target * 100, words));
}

/// To those that fit into the time of the suite, which three replicas of every case may exceed: devices add cases.
void limit_replicas(Plan& plan) {
    if (!plan.most_seconds) return;
    const auto steps = expected_steps(plan);
    double stress = 0;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (plan.cases[i].is_stress) stress += steps[i];
    const double others = plan.expected_seconds - stress;
    *plan.most_seconds =
        std::max(*plan.most_seconds - stress, others * *plan.fewest_replicas / plan.replicas);
    plan.expected_seconds = std::min(others, *plan.most_seconds) + stress;
}

} // namespace

void finish_plan(Plan& plan, std::optional<double> budget_seconds, const record::Machine& machine) {
    if (budget_seconds) {
        fit_budget(plan, *budget_seconds);
        limit_hangs(plan, *budget_seconds);
        if (std::ranges::any_of(plan.cases, run_time_of)) plan.hard_seconds = budget_seconds;
    }
    expect_spread(plan, machine);
    if (!plan.soak_seconds) note_targets(plan);
    if (budget_seconds || plan.soak_seconds || !plan.fewest_replicas) plan.most_seconds.reset();
    plan.expected_seconds = plan.soak_seconds.value_or(expected_seconds(plan));
    if (plan.hard_seconds)
        plan.expected_seconds = std::min(plan.expected_seconds, *plan.hard_seconds);
    limit_replicas(plan);
    if (budget_seconds) plan.patience_seconds = rest_of(*budget_seconds, plan.expected_seconds);
    plan.digest = digest_of(plan);
}

} // namespace assay::plan
