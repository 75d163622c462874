// SPDX-License-Identifier: Apache-2.0

#include "judge/node.hpp"

#include "base/utc.hpp"
#include "judge/bound.hpp"
#include "judge/match.hpp"
#include "judge/parts.hpp"
#include "judge/soak.hpp"
#include "record/expectations.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace assay::report {
namespace {

constexpr double day = 86400; // seconds
constexpr std::uint32_t codes = static_cast<std::uint32_t>(record::DisturbanceCode::cpus_moved) + 1;

/// After the last day on which it holds? Without a date it never expires.
bool is_expired(const std::string& expires, double now) {
    const auto last = seconds_of(expires);
    return last && now >= *last + day;
}

/// Is the value on the bad side of a bound by its estimate alone?
bool is_beyond(double value, const std::optional<double>& warn, bool at_least) {
    return warn && (at_least ? value < *warn : value > *warn);
}

/// Mean logarithm of value over limit in the newest run.
double of_newest_run(std::span<const stats::Margin> margins) {
    double sum = 0;
    double count = 0;
    for (const auto& margin : margins) {
        if (margin.run != margins.back().run) continue;
        sum += margin.log_ratio;
        ++count;
    }
    return sum / count;
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

bool is_serial_of(const record::Machine& machine, const std::string& text) {
    return record::is_id_of(machine, text) ||
           std::ranges::any_of(machine.identity.serials, [&](const record::Serial& serial) {
               return serial.text == text || serial.keyed == text;
           });
}

} // namespace

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
        stats::Acceptance pass;
        stats::Acceptance fail;
        double fail_anyway;   ///< its p_fail, were there no neighbours
        bool is_stable;       ///< some of its observations are ok
        bool newest_is_below; ///< by the mean of the newest run
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

NodeJudge::NodeJudge(const Collection& collection, const Limits& limits,
                     const stats::AcceptanceLevels& levels, double now)
    : collection_{collection}, limits_{limits}, levels_{levels}, now_{now},
      groups_{groups_of(collection.series)} {
    for (const auto& limit : limits.limits) {
        auto& series = of_series_.emplace_back();
        for (const auto& one : collection.series) series.push_back(is_for(limit, one));
        auto& machines = of_machine_.emplace_back();
        for (const auto& one : collection.machines) machines.push_back(is_for(limit.machine, one));
    }
}

void NodeJudge::operator()(Node& node, const std::vector<std::size_t>& first) const {
    Context context{.node = node, .machine = collection_.machines[node.machine]};
    context.items = items_of(collection_, first, groups_, node.runs);
    context.has_limit.resize(context.items.size());
    context.any_soak = std::ranges::any_of(
        node.runs, [&](std::uint32_t run) { return collection_.runs[run].soak.has_value(); });
    check_parts(context);
    check_limits(context);
    check_cases(context);
    check_soaks(context);
    check_telemetry(context);
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
        if (!context.has_limit[i] && value_of(context.items[i])) ++node.not_judged;
    // What is optional and was not measured says nothing; only such checks are no PASS.
    const bool any = std::ranges::any_of(
        node.checks, [](const Check& check) { return check.outcome != Outcome::skip; });
    const bool none_ran = node.required > 0 && node.ran == 0; // whatever is waived
    node.outcome = any && !none_ran ? Outcome::pass : Outcome::inconclusive;
    for (const auto& check : node.checks)
        if (check.outcome != Outcome::skip) node.outcome = std::max(node.outcome, check.outcome);
    std::ranges::stable_sort(node.checks, [](const Check& a, const Check& b) {
        return std::tuple{b.outcome, a.cause} < std::tuple{a.outcome, b.cause};
    });
    node.checks.shrink_to_fit(); // of 10,000 nodes: a third of what they take
}

void NodeJudge::check_parts(Context& context) const {
    std::set<std::string> expected;
    for (const auto& [selector, texts] : limits_.expect)
        if (is_for(selector, context.machine)) expected.insert(texts.begin(), texts.end());
    for (const auto run : context.node.runs)
        if (const auto& gates = collection_.runs[run].gates)
            expected.insert(gates->expected.begin(), gates->expected.end());
    for (const auto& text : expected) {
        const auto found = record::unmet(context.machine, text);
        // judge() has refused unknown ones of limits; those of a run may be of a later version.
        const auto cause = !found                   ? Cause::not_measured
                           : !*found                ? Cause::none
                           : record::is_setup(text) ? Cause::setup_differs
                                                    : Cause::part_missing;
        context.add(cause, "expect:" + text).detail = found ? found->value_or("") : "";
    }
    for (const auto run : std::span{context.node.runs}.last(1))
        for (auto& found : findings_of_parts(context.machine, collection_.runs[run].core_clock_hz,
                                             installed_hardware()))
            context.find(found.cause, std::move(found.id)).detail = std::move(found.detail);
    bool names_mode = false;
    for (std::size_t i = 0; i < limits_.limits.size(); ++i)
        names_mode |=
            of_machine_[i][context.node.machine] && limits_.limits[i].machine.contains("mode");
    for (const auto& device : context.machine.devices) {
        const auto name = fmt::format("{}:{}", device.kind, device.index);
        if (!device.mode.empty() && !names_mode)
            context.find(Cause::device_divided, "setup:mode").detail =
                fmt::format("{} {}", name, device.mode);
        if (device.ecc && !*device.ecc) context.find(Cause::ecc_off, "setup:ecc").detail = name;
    }
}

void NodeJudge::check_limits(Context& context) const {
    for (std::uint32_t i = 0; i < limits_.limits.size(); ++i)
        if (of_machine_[i][context.node.machine]) check_limit(context, i);
    if (context.items.empty())
        context.add(Cause::nothing_measured, "cases");
    else if (!context.any_limit && !context.any_soak)
        context.add(Cause::no_limits, "limits");
}

/// Of one limit: several cases need names of their own.
void NodeJudge::tell_apart(std::span<Check> checks) const {
    std::vector<const Series*> series;
    for (const auto& check : checks) series.push_back(&collection_.series[*check.series]);
    auto which = differences_of(series);
    for (std::size_t i = 0; i < checks.size(); ++i) checks[i].which = std::move(which[i]);
}

void NodeJudge::check_limit(Context& context, std::uint32_t number) const {
    const auto& limit = limits_.limits[number];
    context.any_limit = true;
    const auto begin = context.node.checks.size();
    bool any = false;
    for (std::size_t i = 0; i < context.items.size(); ++i) {
        const auto& item = context.items[i];
        const auto& series = collection_.series[item.series];
        if (!of_series_[number][item.series]) continue;
        const auto* const device = device_of(context.machine, series);
        if (device != nullptr && !is_for_device(limit.machine, context.machine, *device)) continue;
        any = true;
        context.has_limit[i] = true;
        if (limit.at_least) check_item(context, number, item, true);
        if (limit.at_most) check_item(context, number, item, false);
    }
    if (any) {
        tell_apart(std::span{context.node.checks}.subspan(begin));
        return check_devices(context, number);
    }
    auto& check = context.add(Cause::not_measured, limit.id);
    check.limit = number;
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
    check.unit = series.unit;
    check.required = !limit.optional;
    const auto say = [&](Cause cause) {
        const auto meaning = meaning_of(cause);
        check.cause = cause;
        check.outcome = meaning.outcome;
        check.action = meaning.action;
    };
    check.value = value_of(item);
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
    if (is_expired(limit.expires, now_)) return say(Cause::limit_expired);
    if (!limit.unit.empty() && limit.unit != series.unit) return say(Cause::wrong_unit);
    if (!check.value) return say(why_nothing(item));
    const auto all_of_values = [&](const auto& holds) {
        return std::ranges::all_of(item.seen, [&](const Seen& one) {
            return !one.observation->value || holds(*one.observation);
        });
    };
    if (!all_of_values([](const Observation& seen) { return seen.events.has_value(); }))
        return say(Cause::no_telemetry);
    if (!all_of_values([](const Observation& seen) { return seen.verified; }))
        return say(Cause::not_verified);
    const BoundOf bound_of = [&](const Observation& seen) {
        return bound_of_limit(
            {.collection = collection_, .limits = limits_, .items = context.items}, limit, item,
            at_least, seen);
    };
    const auto held = held_against(item, Trust::unstable_too, at_least, bound_of);
    check.bound = held.bound;
    check.replicas = held.margins.size();
    check.runs = held.runs;
    if (!held.bound)
        return say(limit.share_of == "siblings" ? Cause::no_siblings : Cause::no_datasheet);
    if (limit.kind == LimitKind::contract && (at_least || *check.value > 0))
        check.beside.of_contract =
            at_least ? *check.value / *held.bound : *held.bound / *check.value;
    auto noise = noise_of(limit, item);
    if (limit.share_of == "siblings") {
        // The median of m others, each known from as many replicas.
        const auto others = std::ranges::count(context.items, item.group, &Item::group) - 1;
        noise.limit = std::numbers::pi / 2 * noise.replica.variance /
                      static_cast<double>(held.margins.size() * static_cast<std::size_t>(others));
    }
    const auto passing = held_against(item, Trust::ok, at_least, bound_of);
    const auto fail = stats::acceptance(held.margins, noise);
    const bool all_are_ok = passing.margins.size() == held.margins.size();
    Context::Test test{.check = index,
                       .pass = all_are_ok ? fail : stats::acceptance(passing.margins, noise),
                       .fail = fail,
                       .fail_anyway = 1,
                       .is_stable = !passing.margins.empty(),
                       .newest_is_below = of_newest_run(held.margins) < 0};
    test.fail_anyway = test.fail.p_fail;
    if (feels_neighbours(context.machine, series)) {
        std::vector<double> started;
        for (const auto run : context.node.runs)
            started.push_back(collection_.runs[run].started_seconds);
        test.fail = stats::acceptance_on_shared_host(held.margins, started, noise);
    }
    const auto value_at = [&](double log_ratio) {
        return std::isfinite(log_ratio)
                   ? std::optional{*held.bound * std::exp(at_least ? log_ratio : -log_ratio)}
                   : std::nullopt;
    };
    check.low = value_at(at_least ? test.fail.low : test.fail.high);
    check.high = value_at(at_least ? test.fail.high : test.fail.low);
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
        if (adjusted[i] <= levels_.fail)
            say(limit.share_of == "siblings" ? Cause::slower_than_siblings
                : check.at_least             ? Cause::below_limit
                                             : Cause::above_limit);
        else if (test.pass.p_pass <= levels_.pass)
            say(test.newest_is_below                                  ? Cause::below_since
                : is_beyond(*check.value, warn_bound, check.at_least) ? Cause::near_limit
                                                                      : Cause::none);
        else if (test.fail.looks == 0) {
            say(Cause::too_few_replicas);
            check.repeats = stats::acceptance_looks.front();
        } else if (test.fail_anyway <= level) {
            say(Cause::neighbours);
        } else if (!test.is_stable) {
            say(Cause::unstable);
        } else {
            const bool above = test.fail.mean > 0;
            check.repeats = stats::replicas_to_decide(test.fail, above ? levels_.pass : level);
            say(check.repeats ? Cause::undecided : Cause::unsettled);
        }
    }
}

/// Wrong results count whether there is a limit or not; what ended badly and has none is said.
void NodeJudge::check_cases(Context& context) const {
    for (std::size_t i = 0; i < context.items.size(); ++i) {
        if (context.has_limit[i]) continue;
        const auto& item = context.items[i];
        const bool is_wrong = std::ranges::any_of(item.seen, [](const Seen& one) {
            return one.observation->status == record::Status::incorrect;
        });
        auto cause = is_wrong ? Cause::wrong_result : Cause::none;
        if (!is_wrong && !value_of(item)) {
            const auto why = why_nothing(item);
            if (meaning_of(why).outcome == Outcome::error || why == Cause::overheated) cause = why;
        }
        if (cause != Cause::none)
            context.find(cause, "case:" + collection_.series[item.series].benchmark).series =
                item.series;
    }
}

void NodeJudge::check_soaks(Context& context) const {
    for (const auto run : context.node.runs)
        if (const auto& soak = collection_.runs[run].soak)
            for (const auto& found : findings_of(*soak))
                context.add(found.cause, found.id).detail = found.detail;
}

void NodeJudge::check_telemetry(Context& context) const {
    for (std::uint32_t code = 0; code < codes; ++code) {
        const auto which = static_cast<record::DisturbanceCode>(code);
        const auto cause = cause_of(which);
        if (!cause) continue;
        const auto saw = [&](const Seen& one) {
            return (one.observation->events.value_or(0) & event_bit(which)) != 0;
        };
        const auto item = std::ranges::find_if(
            context.items, [&](const Item& each) { return std::ranges::any_of(each.seen, saw); });
        if (item == context.items.end()) continue;
        context.find(*cause, fmt::format("telemetry:{}", record::to_string(which))).series =
            item->series;
    }
    for (const auto run : context.node.runs)
        for (const auto& counter : collection_.runs[run].error_counters) {
            if (!counter.before || !counter.after || *counter.after <= *counter.before) continue;
            const bool is_uncorrected = counter.source == "edac" && counter.counter == "ue_count";
            context
                .find(is_uncorrected ? Cause::memory_uncorrected : Cause::counter_rose,
                      "counter:" + counter.source)
                .detail = fmt::format("{} {}: {} -> {}", counter.device, counter.counter,
                                      *counter.before, *counter.after);
        }
}

void NodeJudge::waive(Context& context) const {
    for (std::uint32_t i = 0; i < limits_.waivers.size(); ++i) {
        const auto& waiver = limits_.waivers[i];
        if (is_expired(waiver.expires, now_)) continue;
        if (!waiver.machine.empty() && !is_serial_of(context.machine, waiver.machine)) continue;
        for (auto& check : context.node.checks) {
            if (check.waiver) continue;
            const bool is_of_limit = !waiver.limit.empty() && check.id == waiver.limit;
            if (!is_of_limit && to_string(check.cause) != waiver.cause) continue;
            check.waiver = i;
            check.waived = std::exchange(
                check.cause, check.outcome < Outcome::warn ? Cause::waiver_unused : Cause::waived);
            check.outcome = Outcome::warn;
            check.action = Action::none;
        }
    }
}

} // namespace assay::report
