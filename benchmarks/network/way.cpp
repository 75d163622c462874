// SPDX-License-Identifier: Apache-2.0
#include "way.hpp"

#include "resources.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace assay::network {
namespace {

bool is_over_rdma(Way way) {
    return way == Way::rc || way == Way::dc || way == Way::ud || way == Way::efa;
}
bool stays_on_machine(Way way) {
    return way == Way::shared_memory || way == Way::cma || way == Way::cuda_ipc;
}

/// "rc" is rc_verbs and rc_mlx5; "ud" is not "udp".
bool is_kind(std::string_view transport, std::string_view kind) {
    return transport == kind || (transport.starts_with(kind) && transport[kind.size()] == '_');
}

/// The transport that such a way needs; others come along.
const char* must_have(Way way) {
    if (way == Way::cma) return "cma";
    return way == Way::cuda_ipc ? "cuda_ipc" : nullptr;
}

/// To and from a device, in front of what carries the data.
bool copies(std::string_view transport) {
    return on_device && (transport == "cuda_copy" || transport == "gdr_copy");
}

bool belongs_to(std::string_view transport, Way way) {
    if (on_ofi && way != Way::any) // "tcp;ofi_rxm" is tcp with messages above it
        return transport.substr(0, transport.find(';')) == provider_of(way);
    switch (way) {
    case Way::shared_memory:
        return transport == "posix" || transport == "sysv";
    case Way::cma:
        return transport == "posix" || transport == "cma";
    case Way::cuda_ipc:
        return transport == "posix" || transport == "sysv" || transport == "cuda_ipc";
    case Way::any:
        return true;
    default:
        return is_kind(transport, name_of(way));
    }
}

} // namespace

const char* name_of(Way way) {
    for (const auto& name : tag_way_names)
        if (name.value == way) return name.text;
    return "";
}

const char* provider_of(Way way) {
    switch (way) {
    case Way::any:
        return nullptr;
    case Way::shared_memory:
        return "shm";
    case Way::rc:
        return "verbs";
    default:
        return name_of(way);
    }
}

std::string with_choices(const std::string& text) {
    constexpr std::array names = on_ofi ? std::array{"FI_PROVIDER", "FI_TCP_IFACE"}
                                        : std::array{"UCX_TLS", "UCX_NET_DEVICES"};
    std::string choices;
    for (const char* name : names) {
        const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets any
        if (value == nullptr) continue;
        choices += joined(choices.empty() ? "" : " ", name, '=', value);
    }
    return choices.empty() ? text : joined(text, " (", choices, ")");
}

Fit fit_way(Way way, const Machine& machine) {
    if (way == Way::any) return Fit::yes();
    if (stays_on_machine(way) && machine.count("job.hosts") > 1)
        return Fit::no("not applicable: shared memory does not reach another host");
    if (is_over_rdma(way) && !collective::has_rdma())
        return Fit::no("not applicable: no RDMA device here");
    const auto found = transports_found();
    const auto matches = [&](const std::string& transport) {
        const char* needed = must_have(way);
        return needed != nullptr ? transport == needed : belongs_to(transport, way);
    };
    if (std::ranges::any_of(found, matches)) return Fit::yes();
    std::string list;
    for (const auto& transport : found) list += (list.empty() ? "" : ", ") + transport;
    return Fit::no(std::string{"not applicable: "} + library_name + " finds no " + name_of(way) +
                   " on this machine, only " + (list.empty() ? "nothing" : list));
}

std::string contradiction(Way asked, const std::vector<Lane>& lanes) {
    if (asked == Way::any) return {};
    for (const auto& lane : lanes)
        if (!copies(lane.transport) && !belongs_to(lane.transport, asked))
            return std::string{library_name} + " uses " + transports_of(lanes) + " on " +
                   devices_of(lanes);
    const char* needed = must_have(asked);
    const auto is_it = [&](const Lane& lane) { return lane.transport == needed; };
    if (needed != nullptr && std::ranges::none_of(lanes, is_it))
        return "UCX uses " + transports_of(lanes) + " alone";
    return {};
}

collective::Transport transport_of(Way way) {
    if (way == Way::any) return collective::Transport::any;
    if (way == Way::tcp) return collective::Transport::tcp;
    return is_over_rdma(way) ? collective::Transport::rdma : collective::Transport::shared_memory;
}

} // namespace assay::network
