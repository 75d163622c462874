// SPDX-License-Identifier: Apache-2.0
#include "traffic.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace assay::collective {
namespace {

namespace fs = std::filesystem;

constexpr const char* rdma_devices = "/sys/class/infiniband";

/// Both directions of a connection; 0 for descriptors that are none. A kernel older than 4.19 does not
/// count what was sent: then only what came back counts.
double tcp_bytes_of(int descriptor) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    const auto holds = [&](std::size_t end) { return size >= end; };
    double bytes = 0;
    if (holds(offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received))
        bytes += static_cast<double>(info.tcpi_bytes_received);
    if (holds(offsetof(tcp_info, tcpi_bytes_sent) + sizeof info.tcpi_bytes_sent))
        bytes += static_cast<double>(info.tcpi_bytes_sent);
    return bytes;
}

double tcp_bytes() {
    double bytes = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{"/proc/self/fd", error}) {
        const auto name = entry.path().filename().string();
        int descriptor = -1;
        std::from_chars(name.data(), name.data() + name.size(), descriptor);
        if (descriptor >= 0) bytes += tcp_bytes_of(descriptor);
    }
    return bytes;
}

/// Ports count words of 4 bytes, as the InfiniBand specification's PortXmitData does.
double rdma_bytes() {
    constexpr double word = 4;
    double words = 0;
    std::error_code error;
    for (const auto& device : fs::directory_iterator{rdma_devices, error})
        for (const auto& port : fs::directory_iterator{device.path() / "ports", error})
            for (const char* counter : {"port_xmit_data", "port_rcv_data"}) {
                double value = 0;
                if (std::ifstream file{port.path() / "counters" / counter}; file >> value)
                    words += value;
            }
    return words * word;
}

/// Half: algorithms differ in what they move, and a rank may be the one with the least to do.
constexpr double enough = 0.5;
/// What the launcher's own connections and the worker's messages may add, in bytes.
constexpr double chatter = 256.0 * 1024;

} // namespace

bool has_rdma() {
    std::error_code error;
    return !fs::is_empty(rdma_devices, error) && !error;
}

Traffic traffic_now() { return {.tcp = tcp_bytes(), .rdma = rdma_bytes()}; }

std::string path_of(const Traffic& traffic, double least_bytes, int machines, int ranks) {
    const bool shares = machines < ranks;
    const double wanted = enough * least_bytes;
    std::string path;
    if (traffic.tcp >= wanted)
        path = "tcp";
    else if (machines == 1)
        return "shared_memory"; // the ports may have been busy with somebody else's data
    else if (traffic.rdma >= wanted)
        path = "rdma";
    if (path.empty()) return path;
    // Ranks that share a machine may have used its memory beside.
    return shares && machines > 1 ? path + ", and perhaps shared_memory" : path;
}

std::string contradiction(Transport asked, const Traffic& traffic, double least_bytes) {
    const auto carried = [&](const char* what, double bytes) {
        return std::string{what} + " carried " + std::to_string(static_cast<std::int64_t>(bytes)) +
               " of at least " + std::to_string(static_cast<std::int64_t>(least_bytes)) + " bytes";
    };
    const double wanted = enough * least_bytes;
    const bool shows = least_bytes > 10 * chatter; // below, the launcher's chatter hides it
    switch (asked) {
    case Transport::tcp:
        return traffic.tcp < wanted ? carried("TCP", traffic.tcp) : "";
    case Transport::rdma:
        if (shows && traffic.tcp >= wanted) return carried("TCP", traffic.tcp);
        return traffic.rdma < wanted ? carried("the RDMA ports", traffic.rdma) : "";
    case Transport::shared_memory:
        if (shows && traffic.tcp >= wanted) return carried("TCP", traffic.tcp);
        return "";
    case Transport::any:
        break;
    }
    return "";
}

} // namespace assay::collective
