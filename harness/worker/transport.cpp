// SPDX-License-Identifier: Apache-2.0
#include "worker/transport.hpp"

#include "base/text.hpp"
#include "machine/network.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace assay::worker {
namespace {

using Counts = std::vector<telemetry::LinkBytes>;

/// Half: the expected bytes are the least that any algorithm moves, on average over devices.
constexpr double enough = 0.5;
/// Least bytes of a device in a window. Below it the resolution of the counters (KiB, links read one after the
/// other) and the driver's own traffic would decide.
constexpr double least_counted = 16.0 * 1024 * 1024;

void append(std::string& list, std::string_view text) {
    if (!list.empty()) list += "; ";
    list += text;
}

/// Per device and call, averaged over the devices, in the busier direction.
std::optional<double> bytes_of(const Counts& counted, std::uint64_t calls) {
    const auto sum = sum_of(counted);
    const auto most = std::max(sum.sent, sum.received);
    if (!most) return {};
    return static_cast<double>(*most) / static_cast<double>(counted.size()) /
           static_cast<double>(calls);
}

} // namespace

telemetry::LinkBytes sum_of(const Counts& counted) {
    telemetry::LinkBytes sum;
    if (counted.empty()) return sum;
    sum = {.received = 0, .sent = 0};
    const auto add = [](std::optional<std::int64_t>& to, const std::optional<std::int64_t>& value) {
        std::int64_t more = 0;
        to = to && value && !__builtin_add_overflow(*to, *value, &more) ? std::optional{more}
                                                                        : std::nullopt;
    };
    for (const auto& device : counted) {
        add(sum.received, device.received);
        add(sum.sent, device.sent);
    }
    return sum;
}

LinkProof prove_links(const record::Evidence& expected, const Counts& counted,
                      std::uint64_t calls) {
    const auto& least = expected.nvlink_least_bytes;
    const auto& most = expected.nvlink_most_bytes;
    const auto devices = expected.nvlink_devices.value_or(0);
    if ((!least && !most) || devices < 1 || calls == 0) return {};
    if (std::cmp_greater(devices, counted.size()))
        return {.said = "not counted: the driver does not report all devices"};
    const Counts used{counted.begin(), counted.begin() + static_cast<std::ptrdiff_t>(devices)};
    const auto seen = bytes_of(used, calls);
    if (!seen) return {.said = "not counted: the driver has no NVLink counters"};
    const auto words = [&](const char* limit, double bytes) {
        return fmt::format("the NVLink counters show {} per call and device, where {} {} {} gone",
                           record::human_bytes(*seen), limit, record::human_bytes(bytes),
                           least ? "must have" : "may have");
    };
    const auto calls_made = static_cast<double>(calls);
    if (least) {
        if (*least * calls_made < least_counted)
            return {.said = "not counted: too few bytes went in the window"};
        LinkProof proof{.said = "counted"};
        if (*seen < enough * *least) {
            proof.contradiction = words("at least", *least);
            proof.values = {{"counted_bytes", *seen}, {"least_bytes", *least}};
        }
        return proof;
    }
    LinkProof proof{.said = "counted"};
    if (*seen * calls_made > *most * calls_made + least_counted) {
        proof.contradiction = words("at most", *most);
        proof.values = {{"counted_bytes", *seen}, {"most_bytes", *most}};
    }
    return proof;
}

void note_network_rate(record::Evidence& evidence, record::NamedList& settings,
                       const machine::Files& files) {
    double sum = 0;
    std::string known;
    std::string unknown;
    // A pair has one connection for each device.
    const auto streams = evidence.ranks == 2 ? machine::Streams::one : machine::Streams::several;
    for (const auto device : split(evidence.network_devices, ',')) {
        const auto rate = machine::network_rate(files, trim(device), streams);
        if (!rate) continue;
        append(rate->bytes_per_second ? known : unknown, rate->source);
        sum += rate->bytes_per_second.value_or(0);
    }
    // Devices share the work: if the rate of one is unknown, so is the sum.
    if (!known.empty() && unknown.empty()) evidence.network_bytes_per_second = sum;
    evidence.network_rate_source = unknown.empty() ? std::move(known) : std::move(unknown);
    if (evidence.network_bytes_per_second) settings.push_back({"network_bytes_per_second", sum});
    if (!evidence.network_rate_source.empty())
        settings.push_back({"network_rate_source", evidence.network_rate_source});
}

} // namespace assay::worker
