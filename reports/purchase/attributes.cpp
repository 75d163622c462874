// SPDX-License-Identifier: Apache-2.0
#include "purchase/needs.hpp"
#include "purchase/offer_document.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

namespace assay::purchase {
namespace {

constexpr double gib = 1 << 30U;
constexpr double gigabit = 1.25e8; // B/s
constexpr double minute = 60;
constexpr double hour = 3600;
constexpr double day = 86400;

Number number(const std::optional<int>& value) { return value ? Number{*value} : std::nullopt; }
Number devices_of(const record::Machine& m) { return static_cast<double>(m.devices.size()); }
Number threads_of(const record::Machine& m) { return number(m.threads); }
Number cores_of(const record::Machine& m) { return number(m.cores); }
Number memory_of(const record::Machine& m) {
    return m.memory_bytes ? Number{static_cast<double>(*m.memory_bytes)} : std::nullopt;
}
/// Ports of one card share its address.
Number network_cards_of(const record::Machine& m) {
    std::set<std::string> addresses;
    for (const auto& card : m.platform.network)
        if (!card.address.empty()) addresses.insert(card.address);
    return addresses.empty() ? Number{} : static_cast<double>(addresses.size());
}
Number device_memory_of(const record::Machine& m) {
    if (m.devices.empty()) return 0;
    Number least;
    for (const auto& device : m.devices)
        if (device.memory_bytes)
            least = std::min(least.value_or(HUGE_VAL), static_cast<double>(*device.memory_bytes));
    return least;
}
constexpr std::array attributes{
    Attribute{.code = "devices",
              .unit = "count",
              .number = &Offer::gpus,
              .measured = devices_of,
              .sheet = &Type::gpus},
    Attribute{.code = "vcpus",
              .unit = "count",
              .number = &Offer::vcpus,
              .measured = threads_of,
              .sheet = &Type::vcpus},
    Attribute{.code = "cores",
              .unit = "count",
              .number = &Offer::cores,
              .measured = cores_of,
              .sheet = &Type::cores},
    Attribute{.code = "memory",
              .unit = "GiB",
              .factor = gib,
              .number = &Offer::memory_gib,
              .measured = memory_of,
              .sheet = &Type::memory_gib},
    Attribute{.code = "device_memory", .unit = "GB", .factor = 1e9, .measured = device_memory_of},
    Attribute{.code = "storage", .unit = "GB", .factor = 1e9, .number = &Offer::local_disk_gb},
    Attribute{.code = "network_cards",
              .unit = "count",
              .number = &Offer::network_cards,
              .measured = network_cards_of},
    Attribute{.code = "network", .unit = "Gb/s", .factor = gigabit, .number = &Offer::network_gbps},
    Attribute{
        .code = "bandwidth", .unit = "Gb/s", .factor = gigabit, .number = &Offer::bandwidth_gbps},
    Attribute{.code = "latency",
              .unit = "ms",
              .factor = 1e-3,
              .sense = Sense::at_most,
              .number = &Offer::latency_ms},
    Attribute{.code = "availability", .unit = "share", .number = &Offer::availability},
    Attribute{.code = "durability", .unit = "share", .number = &Offer::durability},
    Attribute{.code = "replacement",
              .unit = "h",
              .factor = hour,
              .sense = Sense::at_most,
              .number = &Offer::replacement_hours},
    Attribute{.code = "lead_time",
              .unit = "d",
              .factor = day,
              .sense = Sense::at_most,
              .number = &Offer::lead_time_days},
    Attribute{.code = "startup",
              .unit = "min",
              .factor = minute,
              .sense = Sense::at_most,
              .number = &Offer::startup_minutes},
    Attribute{.code = "scaling",
              .unit = "min",
              .factor = minute,
              .sense = Sense::at_most,
              .number = &Offer::scaling_minutes},
    Attribute{
        .code = "idle_reclaim", .unit = "h", .factor = hour, .number = &Offer::idle_reclaim_hours},
    Attribute{.code = "claim", .unit = "d", .factor = day, .number = &Offer::claim_days},
    Attribute{.code = "credit", .unit = "share", .number = &Offer::credit_share},
    Attribute{.code = "trial", .unit = "money", .number = &Offer::trial_budget},
    Attribute{.code = "commitment", .unit = "mo", .sense = Sense::at_most, .promised = false},
    Attribute{.code = "budget", .unit = "money", .sense = Sense::at_most, .promised = false},
    Attribute{.code = "deadline",
              .unit = "h",
              .factor = hour,
              .sense = Sense::at_most,
              .promised = false},
    Attribute{.code = "provider", .sense = Sense::one_of, .text = &Offer::provider},
    Attribute{.code = "region", .sense = Sense::one_of, .text = &Offer::region},
    Attribute{.code = "residency", .sense = Sense::one_of, .text = &Offer::residency},
    Attribute{.code = "compliance", .sense = Sense::one_of, .text = &Offer::compliance},
    Attribute{.code = "images", .sense = Sense::one_of, .text = &Offer::images},
    Attribute{
        .code = "direct_connection", .sense = Sense::one_of, .text = &Offer::direct_connection},
    Attribute{.code = "device", .sense = Sense::one_of, .text = &Offer::gpu},
    Attribute{.code = "tariff", .sense = Sense::one_of},
    Attribute{.code = "interruptible", .sense = Sense::one_of},
    // Computed from the figures of a model, and from runs.
    Attribute{.code = "model", .unit = "GB", .factor = 1e9, .promised = false},
    Attribute{.code = "case", .promised = false}};

} // namespace

const Attribute* attribute_of(std::string_view code) {
    const auto* const found = std::ranges::find(attributes, code, &Attribute::code);
    return found == attributes.end() ? nullptr : found;
}

std::vector<std::string> attribute_names() {
    std::vector<std::string> names;
    for (const auto& one : attributes)
        if (one.code != "case") names.emplace_back(one.code);
    return names;
}

const Type* type_of(const Offer& offer, const Measured& measured) {
    return measured.hardware() == nullptr
               ? nullptr
               : reference::find_instance(*measured.hardware(), offer.provider, offer.instance);
}

namespace {

std::vector<reference::CatalogEntry> devices_like(const Offer& offer, const Measured& measured) {
    if (measured.hardware() == nullptr || offer.gpu.empty()) return {};
    return reference::entries_like(*measured.hardware(), offer.gpu, reference::Kind::accelerator);
}

} // namespace

const reference::HardwareEntry* device_of(const Offer& offer, const Measured& measured) {
    if (const auto named = devices_like(offer, measured); named.size() == 1)
        return named.front().accelerator;
    const auto* type = type_of(offer, measured);
    return type == nullptr ? nullptr : reference::find_accelerator(*measured.hardware(), type->gpu);
}

Number device_memory_of(const Offer& offer, const Measured& measured) {
    if (const auto* device = device_of(offer, measured)) return device->memory_bytes;
    Number least;
    for (const auto& entry : devices_like(offer, measured)) {
        if (!entry.accelerator->memory_bytes) return {};
        least = std::min(least.value_or(HUGE_VAL), *entry.accelerator->memory_bytes);
    }
    return least;
}

Number promised_of(const Attribute& what, const Offer& offer, const Measured& measured) {
    if (what.number != nullptr && offer.*what.number) return *(offer.*what.number) * what.factor;
    if (what.code != "devices" || !offer.gpu.empty()) return {};
    const auto* const type = type_of(offer, measured);
    return type != nullptr && type->gpus.value_or(0) > 0 ? type->gpus : std::nullopt;
}

Number found_of(const Attribute& what, const Offer& offer, const Measured& measured,
                Number promised) {
    if (what.measured == nullptr || measured.runs() == nullptr) return {};
    Number worst;
    const bool exact = what.code == "devices" && promised;
    const auto order = [&](double has) {
        return exact ? -std::abs(has - std::ceil(*promised)) : has;
    };
    for (const auto at : measured.machines_of(offer))
        if (const auto has = what.measured(measured.runs()->machines[at]);
            has && (!worst || order(*has) < order(*worst)))
            worst = has;
    return worst;
}

Number network_of(const Offer& offer, const Measured& measured) {
    Number best;
    if (measured.runs() == nullptr) return best;
    const auto& runs = *measured.runs();
    const auto& machines = measured.machines_of(offer);
    for (const auto& seen : runs.observations) {
        const auto& series = runs.series[seen.series];
        if (series.benchmark == "network.put" && series.unit == "B/s" && is_good(seen) &&
            nodes_of(seen, runs) >= 2 &&
            std::ranges::count(machines, runs.runs[seen.run].machine) > 0)
            best = std::max(best.value_or(0), *seen.value);
    }
    return best;
}

namespace {

/// A device of another kind than the one that is offered; empty: of the same, or not known.
std::string other_device(const Offer& offer, const Measured& measured) {
    const auto* const promised = device_of(offer, measured);
    if (promised == nullptr || measured.runs() == nullptr) return "";
    for (const auto at : measured.machines_of(offer))
        for (const auto& device : measured.runs()->machines[at].devices) {
            const auto* const found = reference::find_hardware(*measured.hardware(), device);
            // Cards of one chip that drivers do not tell apart are the same here.
            if (found != nullptr && found->id != promised->id && found->names != promised->names)
                return device.name;
        }
    return "";
}

} // namespace

const std::vector<std::size_t>& Measured::machines_of(const Offer& offer) const {
    const auto [at, is_new] = known_.try_emplace({offer.provider, offer.instance});
    if (is_new && runs_ != nullptr)
        for (std::size_t m = 0; m < runs_->machines.size(); ++m)
            if (is_of(offer, runs_->machines[m], hardware_)) at->second.push_back(m);
    return at->second;
}

bool Promise::kept() const {
    if (!name.empty()) return found.empty();
    if (!measured) return false;
    // More devices than promised are another machine too. Half a device is seen as one.
    if (code == "devices") return *measured == std::ceil(promised);
    // A few percent of memory belong to the firmware, and of a network to its headers; cores do not come in shares.
    constexpr double enough = 0.93;
    return *measured >= (attribute_of(code)->unit == "count" ? promised : promised * enough);
}

std::vector<Promise> promises_of(const std::vector<Offer>& offers, const Measured& measured) {
    std::vector<Promise> promises;
    // One row for what all tariffs of a type promise alike.
    std::set<std::tuple<std::string, std::string, std::string_view, double>> seen;
    for (const auto& offer : offers)
        for (const auto& what : attributes) {
            if (!what.promised || what.sense == Sense::one_of) continue;
            const auto value = promised_of(what, offer, measured);
            if (!value || !seen.emplace(offer.provider, offer.instance, what.code, *value).second)
                continue;
            const bool is_network = what.code == "network" || what.code == "bandwidth";
            promises.push_back({.offer = offer.id,
                                .code = what.code,
                                .promised = *value,
                                .measured = is_network ? network_of(offer, measured)
                                                       : found_of(what, offer, measured, value),
                                .currency = offer.currency});
        }
    return promises;
}

std::vector<std::optional<Promise>> broken_promises(const std::vector<Offer>& offers,
                                                    const Measured& measured) {
    std::vector<std::optional<Promise>> broken;
    for (const auto& offer : offers) {
        auto& first = broken.emplace_back();
        for (const auto& what : attributes) {
            if (first || what.measured == nullptr) continue;
            const auto value = promised_of(what, offer, measured);
            if (!value) continue;
            Promise promise{.offer = offer.id,
                            .code = what.code,
                            .promised = *value,
                            .measured = found_of(what, offer, measured, value)};
            if (promise.measured && !promise.kept()) first = std::move(promise);
        }
        if (first) continue;
        if (auto other = other_device(offer, measured); !other.empty())
            first = Promise{.offer = offer.id,
                            .code = "device",
                            .measured = {},
                            .name = device_of(offer, measured)->name,
                            .found = std::move(other)};
    }
    return broken;
}

} // namespace assay::purchase
