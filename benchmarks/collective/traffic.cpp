// SPDX-License-Identifier: Apache-2.0
#include "traffic.hpp"

#include <assay/text.hpp>

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

namespace assay::collective {
namespace {

namespace fs = std::filesystem;

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

/// Nothing where the file is not there or holds no number ("N/A (no PMA)").
std::optional<double> number_in(const fs::path& file) {
    double value = 0;
    if (std::ifstream stream{file}; stream >> value) return value;
    return std::nullopt;
}

/// Ports count words of 4 bytes, as the InfiniBand specification's PortXmitData does. Where there are no
/// such counters, Amazon's EFA has bytes.
double bytes_of_port(const fs::path& port) {
    constexpr double word = 4;
    const auto sent = number_in(port / "counters/port_xmit_data");
    const auto received = number_in(port / "counters/port_rcv_data");
    if (sent || received) return word * (sent.value_or(0) + received.value_or(0));
    return number_in(port / "hw_counters/tx_bytes").value_or(0) +
           number_in(port / "hw_counters/rx_bytes").value_or(0);
}

/// Half: algorithms differ in what they move, and a rank may be the one with the least to do.
constexpr double enough = 0.5;
/// What the launcher's own connections and the worker's messages may add, in bytes.
constexpr double chatter = 256.0 * 1024;

} // namespace

bool has_rdma(const char* devices) {
    std::error_code error;
    return !fs::is_empty(devices, error) && !error;
}

double rdma_bytes(const char* devices) {
    double bytes = 0;
    std::error_code error;
    for (const auto& device : fs::directory_iterator{devices, error})
        for (const auto& port : fs::directory_iterator{device.path() / "ports", error})
            bytes += bytes_of_port(port.path());
    return bytes;
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
        return joined(what, " carried ", static_cast<std::int64_t>(bytes), " of at least ",
                      static_cast<std::int64_t>(least_bytes), " bytes");
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
