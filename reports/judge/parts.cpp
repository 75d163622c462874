// SPDX-License-Identifier: Apache-2.0
#include "judge/parts.hpp"

#include "reference/catalog.hpp"
#include "reference/links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

namespace assay::judge {
namespace {

bool is_below(const std::optional<int>& found, const std::optional<int>& most) {
    return found.value_or(0) > 0 && *found < most.value_or(0);
}

class Parts {
public:
    Parts(const record::Machine& machine, const reference::Hardware* hardware)
        : machine_{machine}, hardware_{hardware} {}

    std::vector<PartFinding> findings(std::optional<double> clock_hz) {
        for (const auto& link : reference::faults_of_links(machine_, hardware_)) look_at(link);
        look_at_memory();
        look_for_devices();
        look_at_clock(clock_hz);
        if (machine_.platform.burstable == true)
            add(Cause::burstable, "setup:burstable", machine_.instance);
        return std::move(found_);
    }

private:
    void add(Cause cause, const char* id, std::string detail) {
        found_.push_back({.cause = cause, .id = id, .detail = std::move(detail)});
    }

    bool is_bare_metal() const { return machine_.virtualization == "none"; }

    /// A card may be meant for a narrow slot; a device that is measured is not. A port that is down may not be used,
    /// and what only the provider or the owner can know is for `assay doctor`.
    void look_at(const reference::LinkFinding& link) {
        using enum reference::LinkFault;
        const auto counts = fmt::format("{}: {} / {}", link.where, link.found, link.most);
        const auto text = fmt::format("{}: {}", link.where, link.text);
        constexpr double gigabits = 8e-9;
        switch (link.fault) {
        case lanes:
            return add(link.is_measured ? Cause::link_narrow : Cause::slot_narrow,
                       "telemetry:slot_narrow",
                       fmt::format("{}: x{}, x{}", link.where, link.found, link.most));
        case generation:
            return add(Cause::slot_narrow, "telemetry:slot_narrow",
                       fmt::format("{}: {}.0, {}.0", link.where, link.found, link.most));
        case nvlinks:
            return add(Cause::links_missing, "telemetry:links_missing", counts);
        case nvlinks_unknown:
            return add(Cause::links_unknown, "telemetry:links_missing", link.where);
        case fabric_unready:
            return add(Cause::fabric_unready, "setup:fabric", text);
        case fabric_degraded:
            return add(Cause::fabric_degraded, "telemetry:fabric", text);
        case port_slow:
            return add(Cause::port_slow, "telemetry:port_slow",
                       fmt::format("{}: {:g} / {:g} Gb/s", link.where, link.found * gigabits,
                                   link.most * gigabits));
        case nvlinks_differ:
        case port_down:
            break;
        }
    }

    /// Nobody sells an odd number of several channels: one module is broken, loose or not found.
    void look_at_memory() {
        const auto& platform = machine_.platform;
        if (!platform.memoryless_nodes.empty() && is_bare_metal())
            add(Cause::channels_empty, "telemetry:node_memoryless",
                fmt::format("NUMA {}", fmt::join(platform.memoryless_nodes, ", ")));
        if (!is_below(platform.memory_channels, platform.memory_channels_most)) return;
        const int channels = *platform.memory_channels;
        const bool is_odd = channels > 1 && channels % 2 == 1 && is_bare_metal();
        add(is_odd ? Cause::module_missing : Cause::channels_empty, "telemetry:channels_empty",
            fmt::format("{} / {}", channels, *platform.memory_channels_most));
    }

    /// A batch system may have given some of them: what is on the bus is not missing.
    void look_for_devices() {
        const int count = devices_of_type(machine_, hardware_);
        std::set<std::string_view> seen;
        for (const auto& device : machine_.devices) seen.insert(device.pci_address);
        if (std::ssize(seen) >= count) return;
        const auto on_bus =
            std::ranges::count(machine_.pci, "accelerator", &record::PciDevice::kind);
        const auto cause = seen.empty()      ? Cause::driver_silent
                           : on_bus >= count ? Cause::setup_differs
                                             : Cause::part_missing;
        add(cause, "setup:devices", fmt::format("{} / {}", seen.size(), count));
    }

    void look_at_clock(std::optional<double> clock_hz) {
        if (hardware_ == nullptr || !clock_hz || !is_bare_metal()) return;
        const auto* const entry = reference::find_processor(hardware_->processors, machine_);
        constexpr double least = 0.6; // of the highest clock: base clocks are above it
        if (entry == nullptr || *clock_hz >= least * entry->boost_clock_hz.value_or(0)) return;
        add(Cause::clock_held, "setup:clock",
            fmt::format("{:.2f} / {:.2f} GHz", *clock_hz * 1e-9, *entry->boost_clock_hz * 1e-9));
    }

    const record::Machine& machine_;
    const reference::Hardware* hardware_;
    std::vector<PartFinding> found_;
};

} // namespace

std::vector<PartFinding> findings_of_parts(const record::Machine& machine,
                                           std::optional<double> clock_hz,
                                           const reference::Hardware* hardware) {
    return Parts{machine, hardware}.findings(clock_hz);
}

int devices_of_type(const record::Machine& machine, const reference::Hardware* hardware) {
    if (hardware == nullptr || !machine.container.empty()) return 0;
    const auto* const type =
        reference::find_instance(*hardware, machine.provider, machine.instance);
    if (type == nullptr) return 0;
    const auto* const device = reference::find_accelerator(*hardware, type->gpu);
    const bool is_known = device != nullptr && !device->names.empty();
    return is_known ? static_cast<int>(type->gpus.value_or(0)) : 0; // half a device counts as none
}

const reference::Hardware* installed_hardware() {
    const auto& hardware = reference::installed_hardware();
    return hardware ? &*hardware : nullptr;
}

// --- causes --------------------------------------------------------------------------------------

namespace {

constexpr CauseMeaning broken(Action action) {
    return {.outcome = Outcome::fail, .blame = Blame::node, .action = action};
}
constexpr CauseMeaning doubtful{
    .outcome = Outcome::warn, .blame = Blame::node, .action = Action::none};
constexpr CauseMeaning misused{
    .outcome = Outcome::inconclusive, .blame = Blame::user, .action = Action::fix_setup};
constexpr CauseMeaning open{
    .outcome = Outcome::inconclusive, .blame = Blame::measurement, .action = Action::retest};
constexpr CauseMeaning lacking{
    .outcome = Outcome::inconclusive, .blame = Blame::measurement, .action = Action::none};
constexpr CauseMeaning ended{
    .outcome = Outcome::error, .blame = Blame::measurement, .action = Action::retest};

/// Nothing of a cause that was forgotten here.
constexpr std::optional<CauseMeaning> known_meaning(Cause cause) {
    using enum Cause;
    const auto is = [&](std::initializer_list<Cause> some) {
        return std::ranges::find(some, cause) != some.end();
    };
    if (cause == none) return CauseMeaning{Outcome::pass, Blame::none, Action::none};
    if (is({below_limit, above_limit, slower_than_siblings, wrong_result, corrupted, slowed_down,
            slows_when_hot, overheated}))
        return broken(Action::isolate);
    if (is({part_missing, link_narrow, module_missing, link_slow})) return broken(Action::reseat);
    if (is({links_missing, memory_uncorrected, row_pending, fabric_degraded}))
        return broken(Action::reset);
    if (cause == row_broken) return broken(Action::return_it);
    if (is({near_limit, slowing_down, memory_corrected, packets_resent, port_slow, counter_rose,
            slot_narrow, channels_empty}))
        return doubtful;
    if (cause == throttled) return CauseMeaning{Outcome::warn, Blame::node, Action::retest};
    if (is({device_shared, device_capped, device_divided, quota, ecc_off, clock_held, setup_differs,
            other_load, fabric_unready}))
        return misused;
    if (cause == driver_silent)
        return CauseMeaning{Outcome::inconclusive, Blame::user, Action::reboot};
    if (is({nothing_measured, not_measured, no_value, too_few_replicas, undecided, unstable,
            disturbed, soak_short, not_compared, neighbours, interrupted, clock_went_back}))
        return open;
    if (is({no_limits, not_applicable, no_datasheet, no_siblings, no_telemetry, not_verified,
            wrong_unit, executed_on_cpu, limit_expired, unsettled, id_of_others, replicas_copied,
            links_unknown}))
        return lacking;
    if (is({case_failed, case_crashed, case_timed_out, not_started})) return ended;
    // Parts that the provider sells are nobody's fault.
    if (is({waived, waiver_unused, allowance_exceeded, burstable}))
        return CauseMeaning{Outcome::warn, Blame::none, Action::none};
    return {};
}
constexpr bool is_complete() {
    for (int i = 0; i <= static_cast<int>(last_cause); ++i)
        if (!known_meaning(static_cast<Cause>(i))) return false;
    return true;
}
static_assert(is_complete());

} // namespace

CheckSeverity severity_of(Outcome outcome, Action action) {
    switch (outcome) {
    case Outcome::pass:
    case Outcome::skip:
        break;
    case Outcome::warn:
        return CheckSeverity::low;
    case Outcome::inconclusive:
    case Outcome::error:
        return CheckSeverity::medium;
    case Outcome::fail:
        return action >= Action::isolate ? CheckSeverity::critical : CheckSeverity::high;
    }
    return CheckSeverity::none;
}

CauseMeaning meaning_of(Cause cause) { return known_meaning(cause).value(); }

std::optional<Cause> cause_of(record::DisturbanceCode code) {
    using enum record::DisturbanceCode;
    // The others count where no window was without them: as causes of the status `disturbed`.
    for (const auto own : {link_narrow, link_slow, memory_uncorrected, row_broken, row_pending,
                           memory_corrected, packets_resent, device_capped, driver_silent, quota})
        if (own == code) return value_named<Cause>(to_string(code));
    return {};
}

std::optional<Cause> cause_of(record::Status status) {
    using record::Status;
    switch (status) {
    case Status::incorrect:
        return Cause::wrong_result;
    case Status::skipped:
        return Cause::not_applicable;
    case Status::failed:
        return Cause::case_failed;
    case Status::crashed:
        return Cause::case_crashed;
    case Status::timed_out:
        return Cause::case_timed_out;
    case Status::not_started:
        return Cause::not_started;
    case Status::interrupted:
        return Cause::interrupted;
    default: // it has a value
        return {};
    }
}

} // namespace assay::judge
