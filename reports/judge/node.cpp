// SPDX-License-Identifier: Apache-2.0

#include "judge/node.hpp"

#include "base/utc.hpp"
#include "judge/match.hpp"
#include "judge/parts.hpp"
#include "record/same_machine.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

namespace assay::judge {
namespace {

/// Is the value on the bad side of a bound by its estimate alone?
bool is_beyond(double value, const std::optional<double>& warn, bool at_least) {
    return warn && (at_least ? value < *warn : value > *warn);
}

/// The same work for as long before a window: then boost is over.
constexpr double warm = 2; // seconds

/// A value that something between 2% and three deviations would carry over its limit.
bool is_close(double mean, const decide::AcceptanceNoise& noise) {
    constexpr double least = 0.02;
    constexpr double deviations = 3;
    return std::abs(mean) <
           std::max(least, deviations * std::sqrt(noise.replica.variance + noise.run.variance));
}

/// A case stands beside the strictest contract for it, whichever limit a check of it is of.
void hold_against_contract(std::vector<Check>& checks) {
    std::map<std::uint32_t, double> contracts;
    for (const auto& check : checks)
        if (check.series && check.beside.of_contract) {
            const auto [at, is_new] =
                contracts.try_emplace(*check.series, *check.beside.of_contract);
            at->second = std::min(at->second, *check.beside.of_contract);
        }
    for (auto& check : checks)
        if (check.series && !check.beside.of_contract)
            if (const auto found = contracts.find(*check.series); found != contracts.end())
                check.beside.of_contract = found->second;
}

} // namespace

NodeJudge::NodeJudge(const store::Collection& collection, const Limits& limits,
                     const decide::AcceptanceLevels& levels, PartChoice part, double now)
    : collection_{collection}, limits_{limits}, levels_{levels}, part_{part}, now_{now},
      groups_{groups_of(collection.series)} {
    for (std::uint32_t i = 0; i < collection.series.size(); ++i)
        series_at_.try_emplace({groups_[i], collection.series[i].place}, i);
    for (std::uint32_t i = 0; i < collection.runs.size(); ++i) {
        const auto& run = collection.runs[i];
        const auto& machine = collection.machines[run.machine];
        if (record::is_strong(machine.identity.by))
            machines_of_[run.machine_id].try_emplace(machine.id, plain(run.file.string()));
        for (const auto& device : machine.devices)
            if (auto& runs = runs_with_[record::part_id(device)]; runs.empty() || runs.back() != i)
                runs.push_back(i);
    }
    for (const auto& limit : limits.limits) {
        auto& closer = closer_.emplace_back();
        for (std::uint32_t i = 0; i < limits.limits.size(); ++i)
            if (is_closer(limits.limits[i], limit)) closer.push_back(i);
        auto& series = of_series_.emplace_back();
        for (const auto& one : collection.series) series.push_back(is_for(limit, one));
        auto& machines = of_machine_.emplace_back();
        for (const auto& one : collection.machines) machines.push_back(is_for(limit.machine, one));
    }
}

void NodeJudge::operator()(Node& node, const std::vector<std::size_t>& first) const {
    Context context{.node = node, .machine = collection_.machines[node.machine]};
    context.runs = runs_of_parts(node);
    context.items = items_of(
        collection_, first, groups_, context.runs,
        [&](std::uint32_t run, std::uint32_t series) { return counts_for(node, run, series); });
    drop_copies(context);
    check_records(context);
    context.has_limit.resize(context.items.size());
    context.any_soak = std::ranges::any_of(
        node.runs, [&](std::uint32_t run) { return collection_.runs[run].soak.has_value(); });
    check_parts(context);
    check_limits(context);
    if (part_ != PartChoice::all && std::ranges::none_of(node.checks, [](const Check& check) {
            return check.part != "node" && check.required;
        }))
        context.add(Cause::nothing_measured, "cases");
    check_cases(context);
    check_soaks(context);
    check_telemetry(context);
    check_throttling(context);
    decide(context);
    hold_against_contract(node.checks);
    // Before waivers: what is accepted although nobody measured it did not run.
    for (const auto& check : node.checks) {
        if (!check.required) continue;
        ++node.required;
        const bool is_decided =
            check.outcome != Outcome::inconclusive && check.outcome != Outcome::error;
        if (is_decided || (check.p_pass && check.cause != Cause::too_few_replicas)) ++node.ran;
    }
    waive(context);
    for (std::size_t i = 0; i < context.items.size(); ++i)
        if (!context.has_limit[i] && newest_value(context.items[i]).value &&
            is_judged(part_of(collection_.series[context.items[i].series])))
            ++node.not_judged;
    // Optional cases that were not measured say nothing; such checks alone do not make a PASS.
    const bool any = std::ranges::any_of(
        node.checks, [](const Check& check) { return check.outcome != Outcome::skip; });
    const bool none_ran = node.required > 0 && node.ran == 0; // whatever is waived
    node.outcome = any && !none_ran ? Outcome::pass : Outcome::inconclusive;
    for (const auto& check : node.checks)
        if (check.outcome != Outcome::skip) node.outcome = std::max(node.outcome, check.outcome);
    std::ranges::stable_sort(node.checks, [](const Check& a, const Check& b) {
        return std::tuple{b.outcome, a.cause} < std::tuple{a.outcome, b.cause};
    });
    add_parts(context);
    node.checks.shrink_to_fit(); // of 10,000 nodes: a third of what they take
}

/// A device takes the memory of its failures with it; one in its place begins anew.
std::vector<std::uint32_t> NodeJudge::runs_of_parts(const Node& node) const {
    std::vector<std::uint32_t> runs = node.runs;
    const auto started = [&](std::uint32_t run) { return collection_.runs[run].started_seconds; };
    const double last = started(node.runs.back());
    const double since = node.repair.empty() ? -1 : started(node.runs.front());
    for (const auto& device : collection_.machines[node.machine].devices) {
        const auto found = runs_with_.find(record::part_id(device));
        if (found == runs_with_.end() || found->first.empty()) continue;
        for (const auto run : found->second)
            if (collection_.runs[run].campaign == node.campaign && started(run) < last &&
                started(run) >= since && std::ranges::find(runs, run) == runs.end() &&
                collection_.machines[collection_.runs[run].machine].id !=
                    collection_.machines[node.machine].id)
                runs.push_back(run);
    }
    std::ranges::stable_sort(runs, {}, started);
    return runs;
}

std::optional<std::uint32_t> NodeJudge::counts_for(const Node& node, std::uint32_t run,
                                                   std::uint32_t series) const {
    const auto& now = collection_.machines[node.machine];
    const auto& then = collection_.machines[collection_.runs[run].machine];
    const auto& one = collection_.series[series];
    const bool is_own = then.id == now.id;
    const auto own = is_own ? std::optional{series} : std::nullopt;
    if (!is_of_one_device(one)) return own;
    const auto* const device = device_of(then, one);
    const auto part = device == nullptr ? std::string{} : record::part_id(*device);
    if (part.empty()) return own;
    for (const auto& known : now.devices) {
        if (record::part_id(known) != part) continue;
        const auto place = record::words_of({.kind = known.kind, .index = known.index});
        const auto found = series_at_.find({groups_[series], place});
        return found == series_at_.end() ? std::nullopt : std::optional{found->second};
    }
    return std::nullopt;
}

bool NodeJudge::is_judged(std::string_view part) const {
    return part == "node" || part_ == PartChoice::all ||
           (part_ == PartChoice::host) == (part == "host");
}

void NodeJudge::add_parts(Context& context) const {
    std::map<std::string, PartOutcome> parts;
    for (const auto& check : context.node.checks) {
        if (check.part == "node" || check.outcome == Outcome::skip) continue;
        auto& own = parts[check.part];
        own.part = check.part;
        own.outcome = std::max(own.outcome, check.outcome);
        own.measured |= check.value.has_value();
    }
    for (auto& [part, own] : parts) context.node.parts.push_back(std::move(own));
}

void NodeJudge::check_limits(Context& context) const {
    for (std::uint32_t i = 0; i < limits_.limits.size(); ++i)
        if (of_machine_[i][context.node.machine]) check_limit(context, i);
    if (context.items.empty())
        context.add(Cause::nothing_measured, "cases");
    else if (!context.any_limit && !context.any_soak)
        context.add(Cause::no_limits, "limits");
}

/// Several cases of one limit need names of their own.
void NodeJudge::tell_apart(std::span<Check> checks) const {
    std::vector<const decide::Series*> series;
    for (const auto& check : checks) series.push_back(&collection_.series[*check.series]);
    auto which = differences_of(series);
    for (std::size_t i = 0; i < checks.size(); ++i) checks[i].which = std::move(which[i]);
}

void NodeJudge::check_limit(Context& context, std::uint32_t number) const {
    const auto& limit = limits_.limits[number];
    const auto begin = context.node.checks.size();
    const bool has_place = has_place_for(limit, context.machine);
    bool any = false;
    for (std::size_t i = 0; i < context.items.size(); ++i) {
        const auto& item = context.items[i];
        const auto& series = collection_.series[item.series];
        if (!of_series_[number][item.series] || !is_judged(part_of(series))) continue;
        const auto* const device = device_of(context.machine, series);
        const auto is_meant = [&](const Limit& one) {
            return device == nullptr || is_for_device(one.machine, context.machine, *device);
        };
        if (!is_meant(limit) || (device != nullptr && !has_place)) continue;
        any = true;
        context.has_limit[i] = true;
        if (std::ranges::any_of(closer_[number], [&](std::uint32_t other) {
                return of_machine_[other][context.node.machine] && of_series_[other][item.series] &&
                       is_meant(limits_.limits[other]);
            }))
            continue;
        if (limit.at_least) check_item(context, number, item, true);
        if (limit.at_most) check_item(context, number, item, false);
    }
    context.any_limit |= any;
    if (any) {
        tell_apart(std::span{context.node.checks}.subspan(begin));
        return check_devices(context, number);
    }
    const auto part = part_of(limit, context.machine);
    if (!has_place || !is_judged(part) ||
        std::ranges::any_of(closer_[number], [&](std::uint32_t other) {
            return replaces(limits_.limits[other], limit, context.machine);
        }))
        return;
    context.any_limit = true;
    auto& check = context.add(Cause::not_measured, limit.id);
    check.limit = number;
    check.part = part;
    if (!limit.optional) return;
    check.required = false;
    check.outcome = Outcome::skip;
}

/// A case of one device must have been measured on each device that the limit is for.
void NodeJudge::check_devices(Context& context, std::uint32_t number) const {
    const auto& limit = limits_.limits[number];
    const auto places = places_of(limit);
    std::vector<std::pair<std::uint32_t, std::string>> wanted; // group and kind
    std::vector<std::pair<std::uint32_t, std::string>> there;  // group and place
    for (const auto& item : context.items) {
        const auto& series = collection_.series[item.series];
        if (!of_series_[number][item.series] || !is_of_one_device(series)) continue;
        const std::pair group{item.group, series.place.substr(0, series.place.find(':'))};
        if (std::ranges::find(wanted, group) == wanted.end()) wanted.push_back(group);
        there.emplace_back(item.group, series.place);
    }
    for (const auto& [group, kind] : wanted)
        for (const auto& device : context.machine.devices) {
            const auto place = record::words_of({.kind = device.kind, .index = device.index});
            if (device.kind != kind || !matches(places, place) ||
                !is_for_device(limit.machine, context.machine, device) ||
                std::ranges::find(there, std::pair{group, place}) != there.end())
                continue;
            auto& check = context.add(Cause::not_measured, limit.id);
            check.limit = number;
            check.part = device_part(place);
            check.detail = place;
        }
}

void NodeJudge::check_item(Context& context, std::uint32_t number, const Item& item,
                           bool at_least) const {
    const auto& limit = limits_.limits[number];
    const auto& series = collection_.series[item.series];
    const auto index = context.node.checks.size();
    auto& check = context.add(Cause::none, limit.id);
    check.limit = number;
    check.series = item.series;
    check.at_least = at_least;
    check.part = part_of(series);
    check.is_hot = is_under_stress(series);
    check.unit = series.unit;
    check.required = !limit.optional;
    const auto say = [&](Cause cause) {
        const auto meaning = meaning_of(cause);
        check.cause = cause;
        check.outcome = meaning.outcome;
        check.action = meaning.action;
    };
    const auto newest = newest_value(item);
    check.value = newest.value;
    check.knowledge = item.seen.back().observation->knowledge;
    check.low = newest.low;
    check.high = newest.high;
    for (const auto& [seen, run] : item.seen)
        if (check.value && seen->datasheet)
            check.beside.of_datasheet = *check.value / *seen->datasheet;
    if (check.value && limit.kind == LimitKind::fleet && limit.center)
        check.beside.of_fleet = *check.value / *limit.center;
    if (std::ranges::any_of(item.seen, [](const Seen& one) {
            return one.observation->status == record::Status::incorrect;
        }))
        return say(Cause::wrong_result);
    if (is_executed_on_cpu(series)) return say(Cause::executed_on_cpu);
    if (is_over(limit.expires, now_)) return say(Cause::limit_expired);
    if (!limit.unit.empty() && limit.unit != series.unit) return say(Cause::wrong_unit);
    if (!check.value) return say(why_nothing(item));
    const auto all_of_values = [&](const auto& holds) {
        return std::ranges::all_of(item.seen, [&](const Seen& one) {
            return !counts(*one.observation) || holds(*one.observation);
        });
    };
    if (!all_of_values([](const decide::Observation& seen) { return seen.events.has_value(); }))
        return say(Cause::no_telemetry);
    if (!all_of_values([](const decide::Observation& seen) { return seen.verified; }))
        return say(Cause::not_verified);
    const BoundOf bound_of = [&](const decide::Observation& seen) {
        return bound_of_limit(
            {.collection = collection_, .limits = limits_, .items = context.items}, limit, item,
            at_least, seen);
    };
    const auto held = held_against(item, at_least, bound_of);
    check.bound = held.bound;
    check.replicas = held.margins.size();
    check.runs = held.runs;
    if (!held.bound) {
        say(limit.share_of == "siblings" ? Cause::no_siblings : Cause::no_datasheet);
        // A data sheet that lacks this figure has no limit of this kind.
        const auto* const device = device_of(context.machine, series);
        const auto* const hardware = installed_hardware();
        const bool is_known = device != nullptr && hardware != nullptr &&
                              reference::find_hardware(*hardware, *device) != nullptr;
        // The only device of its maker has no siblings.
        const bool is_only =
            device != nullptr &&
            std::ranges::count(context.machine.devices, device->kind, &record::Device::kind) == 1;
        if (check.cause == Cause::no_siblings ? is_only : limit.optional || is_known) {
            check.outcome = Outcome::skip;
            check.required = false;
        }
        return;
    }
    if (limit.kind == LimitKind::contract && (at_least || *check.value > 0))
        check.beside.of_contract =
            at_least ? *check.value / *held.bound : *held.bound / *check.value;
    for (const auto& [seen, run] : item.seen)
        check.is_warm &= !counts(*seen) || seen->warm_seconds.value_or(warm) >= warm;
    const bool is_shared = feels_neighbours(context.machine, series);
    auto noise = noise_of(limit, item, is_shared);
    if (limit.share_of == "siblings") {
        // The median of m others, each known from as many replicas, and in the same run.
        const auto others = std::ranges::count(context.items, item.group, &Item::group) - 1;
        for (auto* each : {&noise.fail, &noise.pass}) {
            each->limit =
                std::numbers::pi / 2 * each->replica.variance /
                static_cast<double>(held.margins.size() * static_cast<std::size_t>(others));
            each->run = {.variance = 0, .degrees = 0};
        }
    }
    // Both sides of a ratio are of one run.
    if (series.unit == "1")
        for (auto* each : {&noise.fail, &noise.pass}) each->run = {.variance = 0, .degrees = 0};
    if (check.is_hot) {
        say(cause_under_stress(held.margins, noise.pass, series.unit == "1", is_shared,
                               cause_of_disturbance(*item.seen.back().observation)));
        if (check.outcome == Outcome::fail && limit.action != Action::none)
            check.action = limit.action;
        return;
    }
    std::vector<double> started;
    if (is_shared)
        for (const auto run : context.runs)
            started.push_back(collection_.runs[run].started_seconds);
    const auto quiet = undisturbed(held.margins);
    const auto last = held.margins.back().run;
    const auto of_last = [&](const std::vector<decide::Margin>& margins) {
        return static_cast<std::size_t>(std::ranges::count(margins, last, &decide::Margin::run));
    };
    Context::Test test{.check = index,
                       .pass = decide::pass_test(held.margins, noise.pass, started),
                       .fail = decide::fail_test(quiet, noise.fail),
                       .fail_anyway = 1,
                       .noise = noise.fail,
                       .newest = of_last(held.margins),
                       .undisturbed = of_last(quiet),
                       .disturbed_by = cause_of_disturbance(*item.seen.back().observation),
                       .overall = held.value};
    test.fail_anyway = test.fail.p_fail;
    if (is_shared) test.fail = decide::fail_test_on_shared_host(quiet, started, noise.fail);
    context.tests.push_back(test);
}

void NodeJudge::decide(Context& context) const {
    std::vector<double> p;
    for (const auto& test : context.tests) p.push_back(test.fail.p_fail);
    const auto adjusted = stats::holm(p);
    const auto level = levels_.fail / static_cast<double>(std::max<std::size_t>(1, p.size()));
    for (std::size_t i = 0; i < p.size(); ++i) {
        const auto& test = context.tests[i];
        auto& check = context.node.checks[test.check];
        const auto& limit = limits_.limits[*check.limit];
        const auto say = [&](Cause cause) {
            const auto meaning = meaning_of(cause);
            check.cause = cause;
            check.outcome = meaning.outcome;
            check.action = cause != Cause::none && meaning.outcome == Outcome::fail &&
                                   limit.action != Action::none
                               ? limit.action
                               : meaning.action;
        };
        check.p_pass = test.pass.p_pass;
        check.p_fail = adjusted[i];
        const auto& warn = check.at_least ? limit.warn_at_least : limit.warn_at_most;
        const auto& own = check.at_least ? limit.at_least : limit.at_most;
        const auto warn_bound = warn ? std::optional{*warn / *own * *check.bound} : std::nullopt;
        if (adjusted[i] <= levels_.fail) {
            // A value that reaches the limit is of a later run than those that did not, or of the fast replicas alone.
            if (!is_beyond(*check.value, check.bound, check.at_least)) {
                check.value = test.overall;
                check.low.reset();
                check.high.reset();
            }
            say(limit.share_of == "siblings" ? Cause::slower_than_siblings
                : check.at_least             ? Cause::below_limit
                                             : Cause::above_limit);
            continue;
        }
        if (test.pass.clears || test.pass.p_pass <= levels_.pass) {
            say(is_beyond(*check.value, warn_bound, check.at_least) ? Cause::near_limit
                                                                    : Cause::none);
            continue;
        }
        check.outcome = Outcome::inconclusive;
        if (test.undisturbed == 0) {
            say(test.disturbed_by);
        } else if (test.newest < decide::pass_looks.front()) {
            say(Cause::too_few_replicas);
            check.repeats = decide::pass_looks.front();
        } else if (test.fail_anyway <= level) {
            say(Cause::neighbours);
        } else if (const double mean = test.pass.sequential.mean; mean > 0) {
            constexpr double runs = 10; // share the level
            check.repeats = decide::replicas_to_decide(test.pass.sequential, levels_.pass / runs,
                                                       decide::pass_looks);
            say(check.repeats                ? Cause::undecided
                : is_close(mean, test.noise) ? Cause::unsettled
                                             : Cause::unstable);
        } else {
            check.repeats = test.fail.looks == 0 ? std::optional{decide::fail_looks.front()}
                                                 : decide::replicas_to_decide(test.fail, level);
            say(test.fail.looks == 0         ? Cause::too_few_replicas
                : check.repeats              ? Cause::undecided
                : is_close(mean, test.noise) ? Cause::unsettled
                                             : Cause::unstable);
        }
    }
}

/// Wrong results count whether there is a limit or not; what ended badly and has none is said.
void NodeJudge::check_cases(Context& context) const {
    for (std::size_t i = 0; i < context.items.size(); ++i) {
        if (context.has_limit[i]) continue;
        const auto& item = context.items[i];
        const auto& series = collection_.series[item.series];
        const auto part = part_of(series);
        if (!is_judged(part)) continue;
        const bool is_wrong = std::ranges::any_of(item.seen, [](const Seen& one) {
            return one.observation->status == record::Status::incorrect;
        });
        auto cause = is_wrong ? Cause::wrong_result : Cause::none;
        if (!is_wrong && !newest_value(item).value) {
            const auto why = why_nothing(item);
            // Without heat an acceptance run is not complete.
            const bool is_open = why == Cause::interrupted && is_under_stress(series) &&
                                 !feels_neighbours(context.machine, series);
            if (meaning_of(why).outcome == Outcome::error || why == Cause::overheated || is_open)
                cause = why;
        }
        if (cause == Cause::none) continue;
        auto& check = context.find(cause, "case:" + series.benchmark);
        check.series = item.series;
        check.part = part;
        check.is_hot = is_under_stress(series);
    }
}

} // namespace assay::judge
