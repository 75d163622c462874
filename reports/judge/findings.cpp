// SPDX-License-Identifier: Apache-2.0
//
// What is found on a node beside its limits: parts, set-up, heat, errors, soaks.

#include "base/utc.hpp"
#include "decide/expectations.hpp"
#include "judge/match.hpp"
#include "judge/node.hpp"
#include "judge/parts.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace assay::report {
namespace {

constexpr std::uint32_t codes = static_cast<std::uint32_t>(record::DisturbanceCode::cpus_moved) + 1;

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

/// In the newest run. What the node does to itself is a finding, whatever the values are.
void NodeJudge::check_throttling(Context& context) const {
    struct Found {
        std::size_t throttled = 0;
        std::size_t all = 0;
        std::uint32_t series = 0;
    };
    std::map<std::string, Found> parts;
    const auto newest = static_cast<std::uint32_t>(context.runs.size() - 1);
    for (const auto& item : context.items) {
        const auto part = part_of(collection_.series[item.series]);
        if (!is_judged(part)) continue;
        for (const auto& [seen, run] : item.seen) {
            if (run != newest || !counts(*seen)) continue;
            const auto throttled = static_cast<std::size_t>(
                std::ranges::count(seen->replicas, true, &ReplicaValue::throttled));
            auto& worst = parts[part];
            // The largest share, then the most.
            if (std::tuple{throttled * std::max<std::size_t>(worst.all, 1), throttled} >
                std::tuple{worst.throttled * seen->replicas.size(), worst.throttled})
                worst = {
                    .throttled = throttled, .all = seen->replicas.size(), .series = item.series};
        }
    }
    for (const auto& [part, found] : parts) {
        if (found.throttled == 0) continue;
        const bool always = found.throttled == found.all && found.all > 1;
        auto& check =
            context.find(always ? Cause::overheated : Cause::throttled, "telemetry:throttled");
        check.part = part;
        check.series = found.series;
        check.detail = fmt::format("{}/{}", found.throttled, found.all);
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
        if (is_over(waiver.expires, now_)) continue;
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
