// SPDX-License-Identifier: Apache-2.0
#include "plan/together.hpp"

#include "base/text.hpp"
#include "json/words.hpp"
#include "machine/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace assay::plan {
namespace {

constexpr std::string_view parts_prefix = "cpus:";
constexpr int most_parts = 1024;

/// The N of "cpus:N".
std::optional<int> parts_of(std::string_view text) {
    if (!text.starts_with(parts_prefix)) return std::nullopt;
    const auto count = to_number(text.substr(parts_prefix.size()));
    if (!count || *count < 2 || *count > most_parts) return std::nullopt;
    return static_cast<int>(*count);
}

tl::unexpected<Error> does_not_apply(std::string_view kind, const std::string& why) {
    return fail(fmt::format("cannot run together by {}: {}", kind, why));
}

using Shares = std::vector<machine::Shape>;

/// Parts of the host. An error says why there are not two.
Result<Shares> host_shares(const std::string& kind, const machine::Shape& shape) {
    if (const auto count = parts_of(kind)) {
        const auto cores = shape.usable.size();
        if (cores < static_cast<std::size_t>(*count))
            return does_not_apply(
                kind, fmt::format("this process may use {} core{}", cores, cores == 1 ? "" : "s"));
        return machine::even_shares(shape, static_cast<std::size_t>(*count));
    }
    const bool by_socket = kind == "sockets";
    auto shares = machine::shares_of(shape, by_socket ? shape.socket_cpus : shape.numa_cpus);
    if (shares.size() < 2)
        return does_not_apply(
            kind, fmt::format("this process may use one {}", by_socket ? "socket" : "NUMA node"));
    return shares;
}

/// One for each place. An error says why the case does not apply.
Result<std::vector<PlannedCase>> siblings(const PlannedCase& planned, const std::string& kind,
                                          const machine::Shape& shape) {
    const auto& benchmark = *planned.benchmark;
    if (benchmark.team || benchmark.all_devices)
        return does_not_apply(kind, fmt::format("{} uses the whole machine", benchmark.id));
    const bool on_host = benchmark.place == "host";
    const bool by_device = kind == "devices";
    if (on_host && by_device)
        return does_not_apply(
            kind,
            fmt::format("{} runs on the host (expected sockets, numa or cpus:N)", benchmark.id));
    if (!on_host && !by_device)
        return does_not_apply(kind,
                              fmt::format("{} runs on a device (expected devices)", benchmark.id));
    if (by_device && planned.devices.size() < 2)
        return does_not_apply(kind, planned.devices.empty() ? "this machine has no usable device"
                                                            : "this machine has one device");
    Shares shares;
    if (on_host) {
        ASSAY_TRY(shares, host_shares(kind, shape));
    } else {
        shares = shares_near(planned.devices, shape);
    }
    std::vector<PlannedCase> all;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        auto& sibling = all.emplace_back(planned);
        sibling.with_previous = i > 0;
        // A device is a place of its own; parts of the host are numbered.
        auto& how = sibling.together.front().value;
        how = parts_of(kind) ? kind : fmt::format("{}:{}", kind, shares.size());
        if (on_host)
            sibling.together.push_back({"part", fmt::format("{}/{}", i + 1, shares.size())});
        else
            sibling.devices = {planned.devices[i]};
        sibling.share = std::move(shares[i]);
    }
    return all;
}

} // namespace

bool is_together(std::string_view text) {
    return text == "devices" || text == "sockets" || text == "numa" || parts_of(text);
}

std::vector<machine::Shape> shares_near(const std::vector<record::Device>& devices,
                                        const machine::Shape& shape) {
    const auto near = [](const record::Device& device) {
        if (device.pci_address.empty()) return std::string{};
        const auto folder = std::filesystem::path{"/sys/bus/pci/devices"} / device.pci_address;
        return machine::Files{}.line(folder / "local_cpulist");
    };
    std::map<std::string, std::size_t> neighbours;
    for (const auto& device : devices) ++neighbours[near(device)];
    std::map<std::string, std::size_t> taken;
    Shares shares;
    for (const auto& device : devices) {
        const auto cpus = near(device);
        auto local = shape;
        machine::keep_usable(local, cpus);
        auto parts = machine::even_shares(local, neighbours[cpus]);
        // With more devices than cores some share one.
        shares.push_back(parts.empty() ? local : parts[taken[cpus]++ % parts.size()]);
    }
    return shares;
}

machine::Shape shape_for(const PlanRequest& request) {
    auto shape = request.shape ? *request.shape : machine::read_shape();
    // A quota of CPU time may allow fewer.
    const auto usable = static_cast<std::size_t>(
        std::max(request.machine.usable_cores.value_or(static_cast<int>(shape.usable.size())), 1));
    std::vector<std::vector<int>> cores;
    for (std::size_t i = 0; i < usable && usable < shape.usable.size(); ++i)
        cores.push_back(shape.usable[i * shape.usable.size() / usable]);
    if (!cores.empty()) shape.usable = std::move(cores);
    return shape;
}

namespace {

/// One for each device, under the name that it has alone: it uses nothing that they share.
std::vector<PlannedCase> one_on_each(const PlannedCase& planned, const machine::Shape& shape) {
    if (planned.devices.size() < 2) return {planned};
    auto shares = shares_near(planned.devices, shape);
    std::vector<PlannedCase> all(planned.devices.size(), planned);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].devices = {planned.devices[i]};
        all[i].with_previous = i > 0;
        all[i].share = std::move(shares[i]);
    }
    return all;
}

/// All cases that heat the node work at the same time, devices first. Where the host's cores work, too, each device
/// keeps one of them for its process.
void heat_at_once(std::vector<PlannedCase>& cases, machine::Shape shape) {
    const auto heats = [](const PlannedCase& planned) {
        return planned.is_stress && planned.skip_reason.empty() && !planned.benchmark->team;
    };
    const auto all = std::ranges::stable_partition(cases, std::not_fn(heats));
    const auto on_host = std::ranges::stable_partition(
        all, [](const PlannedCase& planned) { return !planned.devices.empty(); });
    std::vector<record::Device> devices;
    for (auto at = all.begin(); at != on_host.begin(); ++at) devices.push_back(at->devices.front());
    auto shares = shares_near(devices, shape);
    for (std::size_t i = 0; i < devices.size() && !on_host.empty(); ++i) {
        auto& own = shares[i].usable;
        own.resize(1);
        if (shape.usable.size() > 1) std::erase(shape.usable, own.front());
        all.begin()[static_cast<std::ptrdiff_t>(i)].share = std::move(shares[i]);
    }
    for (auto& planned : on_host)
        if (!devices.empty()) planned.share = shape;
    for (auto at = all.begin(); at != all.end(); ++at) at->with_previous = at != all.begin();
}

} // namespace

Result<void> spread_out(std::vector<PlannedCase>& cases, const PlanRequest& request, bool soaks) {
    const auto asks = [](const PlannedCase& planned) {
        return record::find(planned.together, "together") != nullptr;
    };
    const auto changes = [&](const PlannedCase& planned) {
        return asks(planned) || planned.is_stress || planned.devices_used == DeviceUse::at_once;
    };
    if (std::ranges::none_of(cases, changes)) return {};
    if (!request.together.empty() && !is_together(request.together))
        return fail(fmt::format("--together {}: expected {}", json::show_text(request.together),
                                together_words));
    const auto shape = shape_for(request);
    std::set<std::string> alone;
    for (const auto& planned : cases)
        if (soaks && !asks(planned)) alone.insert(record::identity(empty_case(planned)));
    std::vector<PlannedCase> spread;
    std::optional<Error> refusal;
    bool any = false;
    for (auto& planned : cases) {
        if (!asks(planned)) {
            if (planned.devices_used == DeviceUse::at_once && !planned.benchmark->all_devices)
                std::ranges::move(one_on_each(planned, shape), std::back_inserter(spread));
            else
                spread.push_back(std::move(planned));
            continue;
        }
        auto all = siblings(planned, record::text(planned.together, "together"), shape);
        if (all) {
            any = true;
            std::ranges::move(*all, std::back_inserter(spread));
            continue;
        }
        if (soaks && planned.devices.size() == 1) {
            auto only = planned;
            only.together.clear();
            if (alone.insert(record::identity(empty_case(only))).second)
                spread.push_back(std::move(only));
            continue;
        }
        if (!refusal) refusal = all.error();
        planned.skip_reason = all.error().message;
        planned.skip_code = record::ReasonCode::not_applicable;
        planned.skip_values = {{"message", all.error().message}};
        spread.push_back(std::move(planned));
    }
    if (!request.together.empty() && !any && refusal)
        return fail("--together: " + refusal->message);
    cases = std::move(spread);
    heat_at_once(cases, shape);
    return {};
}

} // namespace assay::plan
