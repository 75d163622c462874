// SPDX-License-Identifier: Apache-2.0
#include "judge/judge.hpp"

#include "base/utc.hpp"
#include "decide/expectations.hpp"
#include "document/text.hpp"
#include "judge/evidence.hpp"
#include "judge/match.hpp"
#include "judge/node.hpp"
#include "judge/parts.hpp"
#include "record/same_machine.hpp"
#include "record/soak.hpp"
#include "report/report.hpp"
#include "store/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <set>
#include <span>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace assay::judge {
namespace {

/// The runs of each machine in each campaign, the oldest first, from the last recorded repair on.
Result<std::vector<Node>> nodes_of(const store::Collection& collection, const std::string& campaign,
                                   double now) {
    std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> runs;
    std::set<std::string> campaigns;
    for (std::uint32_t i = 0; i < collection.runs.size(); ++i) {
        const auto& run = collection.runs[i];
        campaigns.insert(run.campaign);
        if (campaign.empty() || run.campaign == campaign)
            runs[{collection.machines[run.machine].id, run.campaign}].push_back(i);
    }
    if (runs.empty() && !campaign.empty())
        return fail(fmt::format("unknown campaign \"{}\" (expected one of {})", plain(campaign),
                                fmt::join(campaigns, ", ")));
    std::vector<Node> nodes;
    for (auto& [key, own] : runs) {
        std::ranges::stable_sort(
            own, {}, [&](std::uint32_t i) { return collection.runs[i].started_seconds; });
        Node node{.machine = collection.runs[own.back()].machine, .campaign = key.second};
        for (const auto i : own) {
            if (auto repair = record::text(collection.runs[i].tags, repair_tag); !repair.empty()) {
                node.before_repair += std::exchange(node.runs, {}).size();
                node.repair = std::move(repair);
            }
            node.runs.push_back(i);
        }
        for (const auto i : own)
            if (const auto& run = collection.runs[i];
                !node.repair.empty() &&
                (run.strayed_seconds > clock_leeway || run.started_seconds > now))
                node.unordered = plain(run.file.string());
        nodes.push_back(std::move(node));
    }
    return nodes;
}

/// For each run the index of its first observation; one more at the end.
std::vector<std::size_t> firsts_of(const store::Collection& collection) {
    std::vector<std::size_t> first(collection.runs.size() + 1);
    for (const auto& seen : collection.observations) ++first[seen.run + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    return first;
}

/// Machines of one type make a fleet.
std::string type_of(const record::Machine& machine) {
    std::string type = machine.provider + '\n' + machine.instance + '\n' + machine.cpu_model;
    for (const auto& device : machine.devices) type += '\n' + device.name;
    return type;
}

/// Compares each node with others of its type. Only for series that two nodes have.
void add_references(const store::Collection& collection, std::vector<Node>& nodes) {
    struct Fleet {
        std::vector<double> values; ///< of each node one
        double median = 0;
        const Node* last = nullptr; ///< that it has a value of
    };
    std::map<std::string, std::vector<Fleet>> fleets; // by type, then by series
    const auto fleets_of = [&](const Node& node) -> std::vector<Fleet>& {
        auto& own = fleets[type_of(collection.machines[node.machine])];
        own.resize(collection.series.size());
        return own;
    };
    for (const auto& node : nodes) {
        auto& own = fleets_of(node);
        for (const auto& check : node.checks) {
            if (!check.series || !check.value) continue;
            auto& fleet = own[*check.series];
            if (std::exchange(fleet.last, &node) != &node) fleet.values.push_back(*check.value);
        }
    }
    for (auto& [type, own] : fleets)
        for (auto& fleet : own) {
            std::ranges::sort(fleet.values);
            if (fleet.values.size() > 1) fleet.median = stats::median(fleet.values);
        }
    for (auto& node : nodes) {
        const auto& own = fleets_of(node);
        for (auto& check : node.checks) {
            if (!check.series || !check.value) continue;
            const auto& [values, median, last] = own[*check.series];
            if (values.size() < 2) continue;
            const bool higher = collection.series[*check.series].higher_is_better;
            const auto below = std::ranges::lower_bound(values, *check.value) - values.begin();
            const auto above = values.end() - std::ranges::upper_bound(values, *check.value);
            check.beside.of_fleet = *check.value / median;
            check.beside.nodes = values.size();
            check.beside.slower = static_cast<std::size_t>(higher ? below : above);
        }
    }
}

/// A file that could not be read may be of a node that nobody judged.
Outcome worst_of(const Judgement& all) {
    const bool lost = std::ranges::any_of(
        all.collection.problems, [](const store::Problem& problem) { return !problem.is_copy; });
    auto worst = lost || all.nodes.empty() ? Outcome::inconclusive : Outcome::pass;
    for (const auto& node : all.nodes) worst = std::max(worst, node.outcome);
    return worst;
}

} // namespace

store::CollectOptions collecting_for(const Limits& limits, store::CollectOptions options) {
    options.metrics.emplace_back("primary");
    for (const auto& limit : limits.limits)
        if (!limit.metric.empty()) options.metrics.push_back(limit.metric);
    options.metrics_may_be_missing = true;
    options.copied = true; // a node with them is not decided
    return options;
}

Result<Judgement> judge(store::Collection collection, Limits limits, const JudgeOptions& options) {
    ASSAY_TRY(apply_filters(collection, options.filter));
    for (const auto& expectation : limits.expect)
        for (const auto& text : expectation.expect) ASSAY_TRY(decide::unmet({}, text));
    const double now = options.now.value_or(seconds_now());
    for (const auto& waiver : limits.waivers)
        if (!is_over(waiver.expires, now + longest_waiver))
            return fail(fmt::format(
                "a waiver for \"{}\" ends on {} (expected a date within a year)",
                plain(waiver.limit.empty() ? waiver.cause : waiver.limit), plain(waiver.expires)));
    ASSAY_TRY(auto nodes, nodes_of(collection, options.campaign, now));
    Judgement all{.collection = std::move(collection),
                  .limits = std::move(limits),
                  .levels = options.levels,
                  .part = options.part,
                  .nodes = std::move(nodes),
                  .filter = options.filter,
                  .campaign = options.campaign};
    const auto first = firsts_of(all.collection);
    const NodeJudge judge_node{all.collection, all.limits, all.levels, all.part, now};
    const auto part = [&](std::size_t from, std::size_t step) {
        for (auto i = from; i < all.nodes.size(); i += step) judge_node(all.nodes[i], first);
    };
    const std::size_t threads = std::clamp<std::size_t>(
        std::min<std::size_t>(std::thread::hardware_concurrency(), all.nodes.size() / 100), 1, 8);
    std::vector<std::future<void>> running;
    for (std::size_t i = 1; i < threads; ++i)
        running.push_back(std::async(std::launch::async, part, i, threads));
    part(0, threads);
    for (auto& one : running) one.get();
    add_references(all.collection, all.nodes);
    std::ranges::stable_sort(all.nodes, [](const Node& a, const Node& b) {
        return std::tuple{b.outcome, a.ran} < std::tuple{a.outcome, b.ran};
    });
    all.outcome = worst_of(all);
    return all;
}

// --- findings ------------------------------------------------------------------------------------
// What is found on a node beside its limits: parts, set-up, heat, errors, soaks.

namespace {

bool is_serial_of(const record::Machine& machine, const std::string& text) {
    return record::is_id_of(machine, text) ||
           std::ranges::any_of(machine.identity.serials, [&](const record::Serial& serial) {
               return serial.text == text || serial.keyed == text;
           });
}

} // namespace

void NodeJudge::check_parts(Context& context) const {
    std::set<std::string> expected;
    for (const auto& [selector, texts] : limits_.expect)
        if (is_for(selector, context.machine)) expected.insert(texts.begin(), texts.end());
    for (const auto run : context.node.runs)
        if (const auto& gates = collection_.runs[run].gates)
            expected.insert(gates->expected.begin(), gates->expected.end());
    for (const auto& text : expected) {
        const auto found = decide::unmet(context.machine, text);
        // judge() has refused unknown ones of limits; those of a run may be of a later version.
        const auto cause = !found                   ? Cause::not_measured
                           : !*found                ? Cause::none
                           : decide::is_setup(text) ? Cause::setup_differs
                                                    : Cause::part_missing;
        context.add(cause, "expect:" + text).detail = found ? found->value_or("") : "";
    }
    for (const auto run : std::span{context.node.runs}.last(1))
        for (auto& found : findings_of_parts(context.machine, collection_.runs[run].core_clock_hz,
                                             installed_hardware()))
            context.find(found.cause, std::move(found.id)).detail = std::move(found.detail);
    // A driver that is there and sees none of its devices. A card without one may be somebody else's (vfio).
    for (const auto& card : context.machine.pci) {
        const std::string_view kind = card.driver == "nvidia"   ? "cuda"
                                      : card.driver == "amdgpu" ? "hip"
                                                                : "";
        if (card.kind != "accelerator" || kind.empty() || !is_judged("devices") ||
            std::ranges::find(context.machine.devices, kind, &record::Device::kind) !=
                context.machine.devices.end())
            continue;
        auto& check = context.find(Cause::driver_silent, "setup:driver");
        check.part = "devices";
        check.detail = fmt::format("{} {}", card.address, card.name);
    }
    bool names_mode = false;
    for (std::size_t i = 0; i < limits_.limits.size(); ++i)
        names_mode |=
            of_machine_[i][context.node.machine] && limits_.limits[i].machine.contains("mode");
    for (const auto& device : context.machine.devices) {
        const auto name = fmt::format("{}:{}", device.kind, device.index);
        if (!is_judged(name)) continue;
        const auto find = [&](Cause cause, const char* id, std::string detail) {
            auto& check = context.find(cause, id);
            check.part = name;
            check.detail = std::move(detail);
        };
        if (!device.mode.empty() && !names_mode)
            find(Cause::device_divided, "setup:mode", fmt::format("{} {}", name, device.mode));
        if (device.ecc && !*device.ecc) find(Cause::ecc_off, "setup:ecc", name);
    }
}

/// In the newest run. Disturbances by the node itself are findings, whatever the values are.
void NodeJudge::check_throttling(Context& context) const {
    struct Found {
        std::size_t throttled = 0;
        std::size_t all = 0;
        std::uint32_t series = 0;
        bool is_hot = false;
    };
    std::map<std::string, Found> parts;
    const auto newest = static_cast<std::uint32_t>(context.runs.size() - 1);
    for (const auto& item : context.items) {
        const auto& series = collection_.series[item.series];
        const auto part = part_of(series);
        if (!is_judged(part)) continue;
        const bool is_hot = is_under_stress(series);
        for (const auto& [seen, run] : item.seen) {
            if (run != newest || !counts(*seen)) continue;
            const auto throttled = static_cast<std::size_t>(
                std::ranges::count(seen->replicas, true, &decide::ReplicaValue::throttled));
            auto& worst = parts[part];
            // The largest share, then the most.
            if (std::tuple{throttled * std::max<std::size_t>(worst.all, 1), throttled} >
                std::tuple{worst.throttled * seen->replicas.size(), worst.throttled})
                worst = {.throttled = throttled,
                         .all = seen->replicas.size(),
                         .series = item.series,
                         .is_hot = worst.is_hot};
            worst.is_hot |= is_hot && throttled > 0;
        }
    }
    for (const auto& [part, found] : parts) {
        if (found.throttled == 0) continue;
        const bool always = found.is_hot || (found.throttled == found.all && found.all > 1);
        auto& check =
            context.find(always ? Cause::overheated : Cause::throttled, "telemetry:throttled");
        check.part = part;
        check.series = found.series;
        check.is_hot = found.is_hot;
        check.detail = fmt::format("{}/{}", found.throttled, found.all);
    }
}

/// Contradictions of the files: a clock that was set during the run, and machines that have one id.
void NodeJudge::check_records(Context& context) const {
    const auto& newest = collection_.runs[context.node.runs.back()];
    if (newest.strayed_seconds > clock_leeway)
        context.find(Cause::clock_went_back, "setup:clock").detail =
            fmt::format("{}: {:.0f} s", plain(newest.file.string()), newest.strayed_seconds);
    else if (!context.node.unordered.empty())
        context.find(Cause::clock_went_back, "setup:order").detail =
            fmt::format("order unknown: {}", context.node.unordered);
    const auto found = machines_of_.find(newest.machine_id);
    if (found == machines_of_.end() || found->second.size() < 2 || !context.node.repair.empty())
        return;
    std::vector<std::string> files;
    for (const auto& [machine, file] : found->second) files.push_back(file);
    context.find(Cause::id_of_others, "setup:id").detail =
        fmt::format("{}: {}", plain(newest.machine_id), fmt::join(files, ", "));
}

/// Replicas that stand in two runs count once, in the older one. Replicas of two cases have an unknown owner.
void NodeJudge::drop_copies(Context& context) const {
    struct Original {
        double value;
        const Item* item;
        const decide::Observation* seen;
    };
    std::unordered_map<std::uint32_t, Original> originals;
    const auto name = [&](const Item& item, const decide::Observation& seen) {
        return fmt::format("{} in {}", name_of(collection_.series[item.series]),
                           plain(collection_.runs[seen.run].file.string()));
    };
    std::string first;
    std::set<const decide::Observation*> dropped;
    for (const auto& item : context.items)
        for (const auto& one : item.seen) {
            const auto& seen = *one.observation;
            const auto& run = collection_.runs[seen.run];
            if (!run.copy_of.empty()) {
                dropped.insert(&seen);
                first = fmt::format("{} = {}", plain(run.file.string()), run.copy_of);
                continue;
            }
            // A print has 32 bits: other cases must have two in common.
            std::size_t common = 0;
            bool is_copy = false;
            const Original* original = nullptr;
            for (const auto& replica : seen.replicas) {
                if (replica.print == 0) continue;
                const auto [known, is_new] =
                    originals.try_emplace(replica.print, Original{replica.value, &item, &seen});
                if (is_new) continue;
                original = &known->second;
                is_copy |=
                    ++common > 1 || (original->item == &item && original->value == replica.value);
            }
            if (!is_copy) continue;
            dropped.insert(&seen);
            if (original->item != &item) dropped.insert(original->seen);
            if (first.empty())
                first = fmt::format("{} = {}", name(item, seen),
                                    name(*original->item, *original->seen));
        }
    for (auto& item : context.items)
        std::erase_if(item.seen,
                      [&](const Seen& one) { return dropped.contains(one.observation); });
    std::erase_if(context.items, [](const Item& item) { return item.seen.empty(); });
    if (!first.empty()) context.find(Cause::replicas_copied, "replicas").detail = std::move(first);
}

void NodeJudge::check_soaks(Context& context) const {
    for (const auto run : context.node.runs)
        if (const auto& soak = collection_.runs[run].soak)
            for (const auto& found : findings_of(*soak)) add_soak(context, found);
}

/// Called by its case where the collection has it, else by the case's identity.
void NodeJudge::add_soak(Context& context, const PartFinding& found) const {
    auto& check = context.add(found.cause, found.id);
    check.detail = found.detail;
    if (found.of.empty()) return;
    const auto series = std::ranges::find(collection_.series, found.of,
                                          [](const auto& one) { return decide::name_of(one); });
    if (series != collection_.series.end())
        check.series = static_cast<std::uint32_t>(series - collection_.series.begin());
    else
        check.detail =
            fmt::format("{}{}{}", found.of, found.detail.empty() ? "" : ", ", found.detail);
}

void NodeJudge::check_telemetry(Context& context) const {
    for (const auto which : all_values<record::DisturbanceCode>()) {
        const auto cause = cause_of(which);
        if (!cause) continue;
        const auto saw = [&](const Seen& one) {
            return (one.observation->events.value_or(0) & decide::event_bit(which)) != 0;
        };
        const auto item = std::ranges::find_if(context.items, [&](const Item& each) {
            return is_judged(part_of(collection_.series[each.series])) &&
                   std::ranges::any_of(each.seen, saw);
        });
        if (item == context.items.end()) continue;
        auto& check = context.find(*cause, fmt::format("telemetry:{}", record::to_string(which)));
        check.series = item->series;
        check.part = part_of(collection_.series[item->series]);
    }
    for (const auto run : context.node.runs)
        for (const auto& counter : collection_.runs[run].error_counters) {
            if (!counter.before || !counter.after || *counter.after <= *counter.before) continue;
            const bool is_uncorrected = counter.source == "edac" && counter.counter == "ue_count";
            const auto cause = is_uncorrected                  ? Cause::memory_uncorrected
                               : counter.source == "allowance" ? Cause::allowance_exceeded
                                                               : Cause::counter_rose;
            context.find(cause, "counter:" + counter.source).detail =
                fmt::format("{} {}: {} -> {}", counter.device, counter.counter, *counter.before,
                            *counter.after);
        }
}

void NodeJudge::waive(Context& context) const {
    for (std::uint32_t i = 0; i < limits_.waivers.size(); ++i) {
        const auto& waiver = limits_.waivers[i];
        if (is_over(waiver.expires, now_)) continue;
        if (!is_serial_of(context.machine, waiver.machine)) continue;
        for (auto& check : context.node.checks) {
            if (check.waiver || !may_be_waived(check.cause)) continue;
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

// --- soak ----------------------------------------------------------------------------------------

namespace {

PartFinding results_of(const record::Soak& soak) {
    PartFinding results{.id = "soak:results"};
    if (soak.wrong > 0) {
        results.cause = Cause::corrupted;
        results.detail = std::to_string(soak.wrong);
        if (!soak.corruptions.empty()) {
            const auto& first = soak.corruptions.front();
            results.detail =
                fmt::format("{}: {}, {}", soak.wrong, first.of, report::place_in_words(first));
            if (!first.bits.empty()) results.detail += fmt::format(", 0x{}", first.bits);
        }
        return results;
    }
    const auto unseen = std::ranges::find_if(soak.phases, [](const record::SoakPhase& phase) {
        return phase.compared + phase.checked == 0;
    });
    if (soak.phases.empty() || unseen != soak.phases.end()) {
        results.cause = Cause::not_compared;
        if (unseen != soak.phases.end()) results.detail = unseen->of;
    }
    return results;
}

PartFinding speed_of(const record::SoakPhase& phase) {
    PartFinding speed{.id = "soak:speed", .detail = "", .of = phase.of};
    const auto course = record::course_of(phase);
    const double slower = record::slowing_of(course);
    if (course.points < record::fewest_points) {
        speed.cause = Cause::too_few_replicas;
        speed.detail = fmt::format("{} / {}", course.points, record::fewest_points);
    } else if (slower > record::slow_warning) {
        speed.cause = slower > record::slow_fault ? Cause::slowed_down : Cause::slowing_down;
        speed.detail = fmt::format("{:+.1f}%", -100 * slower);
    }
    return speed;
}

} // namespace

std::vector<PartFinding> findings_of(const record::Soak& soak) {
    std::vector<PartFinding> findings{results_of(soak)};
    if (soak.wrong == 0 && soak.seconds < soak.asked_seconds)
        findings.push_back(
            {.cause = Cause::soak_short,
             .id = "soak:time",
             .detail = fmt::format("{} / {}", document::duration_in_words(soak.seconds),
                                   document::duration_in_words(soak.asked_seconds))});
    for (const auto& phase : soak.phases) findings.push_back(speed_of(phase));
    return findings;
}

} // namespace assay::judge
