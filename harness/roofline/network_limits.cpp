// SPDX-License-Identifier: Apache-2.0
#include "roofline/network_limits.hpp"

#include "machine/network.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay::harness {
namespace {

std::string text_of(const record::NamedList& list, std::string_view name) {
    const auto* value = record::find(list, name);
    return value == nullptr ? "" : record::to_string(*value);
}

std::optional<double> number_of(const record::NamedList& list, std::string_view name) {
    const auto* value = record::find(list, name);
    if (value == nullptr) return {};
    if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(value);
    return real == nullptr ? std::nullopt : std::optional{*real};
}

void append(std::string& list, std::string_view text) {
    if (!list.empty()) list += "; ";
    list += text;
}

} // namespace

void note_network_rate(record::NamedList& settings, const machine::Files& files) {
    const auto devices = text_of(settings, "network_devices");
    double sum = 0;
    std::string known;
    std::string unknown;
    for (const auto device : machine::split(devices, ',')) {
        const auto rate = machine::network_rate(files, machine::trim(device));
        if (!rate) continue;
        append(rate->bytes_per_second ? known : unknown, rate->source);
        sum += rate->bytes_per_second.value_or(0);
    }
    // Of devices that share the work the rate is not known where that of one is not.
    if (!known.empty() && unknown.empty()) settings.push_back({"network_bytes_per_second", sum});
    auto source = unknown.empty() ? std::move(known) : std::move(unknown);
    if (!source.empty()) settings.push_back({"network_rate_source", std::move(source)});
}

DeviceLimits network_limits(const record::Case& c) {
    auto source = text_of(c.settings, "network_rate_source");
    if (c.metrics.empty() || c.metrics.front().name != "bandwidth" || source.empty()) return {};
    const auto machines = number_of(c.settings, "machines");
    if (!machines) return {.reason = "nothing says how many machines took part"};
    if (*machines < 2)
        return {.reason = "on one machine, messages need not go through its network"};
    if (*machines > 2 || number_of(c.settings, "ranks").value_or(0) != 2)
        return {.reason = "of several pairs of processes, the network devices of one are known"};
    const auto rate = number_of(c.settings, "network_bytes_per_second");
    if (!rate) return {.reason = std::move(source)};
    if (!(*rate > 0) || !std::isfinite(*rate))
        return {.reason = "the rate of its network is no rate"};
    const bool both = text_of(c.parameters, "direction") == "two_way";
    DeviceLimits limits;
    limits.ceilings.push_back({.value = both ? 2 * *rate : *rate,
                               .kind = record::CeilingKind::datasheet,
                               .source = std::move(source) + (both ? ", both ways at once" : "")});
    return limits;
}

} // namespace assay::harness
