// SPDX-License-Identifier: Apache-2.0
//
// What NCCL's log (NCCL_DEBUG=INFO) says of the way that messages took, and whether that is the way that
// was asked for. The lines are those of NCCL 2.18 to 2.30; what is not understood is passed over, so
// that a log of another version, cut off or damaged, proves nothing and does no harm.

#pragma once

#include "collective/nccl_choice.hpp"

#include <assay/benchmark.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::collective {

/// How two ranks were connected, of all connections of the log.
struct Connections {
    bool peer = false;   ///< one device reaches into the memory of another
    bool shared = false; ///< through the memory of the host
    bool rdma = false;   ///< NCCL's own InfiniBand and RoCE
    bool socket = false; ///< TCP
    bool other = false;  ///< a network of a plugin, or one that reduces
    bool direct = false; ///< the network's adapter reaches the memory of the device
    bool any() const { return peer || shared || rdma || socket || other; }
};

/// Remarks on network plugins, made once in a process, however many communicators it makes.
struct NetPlugins {
    struct Loaded {
        std::string name;      ///< "AWS Libfabric", "IBext"
        std::string interface; ///< between NCCL and it: "v8"
    };
    std::vector<Loaded> loaded; ///< 8 at most
    std::string release;        ///< "aws-ofi-nccl 1.16.2"; "" not told
    std::string provider;       ///< of libfabric: "efa", "tcp"; "" not told
};

struct NcclLog {
    Connections connections;
    std::string link;      ///< of the ring between devices: "NVL", "PIX", "SYS"; "" unknown
    std::string algorithm; ///< of the last call: "RING", "NVLS"; "" unknown
    std::string protocol;  ///< "LL", "LL128", "SIMPLE"; "" unknown
    int channels = 0;      ///< of the last call; 0: unknown
    std::string
        kernel; ///< of the last call, where it was one for symmetric buffers; then no algorithm
    std::string
        network; ///< that was chosen between machines: "IB", "Socket", a plugin's; "" unknown
    NetPlugins plugins;
};

NcclLog read_nccl_log(std::string_view text);

/// "nvlink", "pcie_peer", "shared_memory", "rdma", "tcp", several with " and "; "" unknown.
std::string path_of(const NcclLog& log);
/// The same for the program, which has limits of some.
Links links_of(const NcclLog& log);

/// Adds what the process was told before: a second communicator's log says nothing of plugins.
void recall_plugins(NcclLog& log);
/// "AWS Libfabric v8, aws-ofi-nccl 1.16.2, efa" where a plugin carried messages, otherwise "".
std::string net_plugin_of(const NcclLog& log);

/// Empty, or how the log contradicts what was asked for.
std::string contradiction(const NcclChoice& asked, const NcclLog& log);

/// Empty, or what the log would have to say and does not.
std::string unproved(const NcclChoice& asked, const NcclLog& log);

// --- what the counters of NVLink must show, whatever the algorithm: by the label, or, where NCCL chose, by its log

/// Bytes of a message that each device must send or receive at least, on average over devices, in the busier direction.
/// With n devices: a result of S bytes that needs all inputs costs S (n-1) / n, for a device may have its own part;
/// NVLink's switch, which adds up and copies on the way, saves no more than that.
constexpr double least_carried(Kind kind, double bytes, int ranks) {
    if (kind == Kind::send_receive) return bytes;
    return bytes * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
}

struct LinkExpectation {
    std::optional<double> least; ///< bytes
    std::optional<double> most;
};

/// Nothing where neither label nor log says whether NVLink carries the messages.
LinkExpectation expected_of_nvlink(const NcclChoice& asked, const NcclLog& log,
                                   double least_carried, int machines);

/// Where NCCL writes its log: a file in memory that has no name, so that nothing is left behind and nobody
/// else can write it. NCCL reads the variables once, before its first line: the first LogFile of a
/// process must be made before anything else of NCCL is called.
class LogFile {
public:
    /// Remembers where the log ends now.
    LogFile();
    /// The text written since; at most a few megabytes.
    std::string text() const;
    /// Gives the memory of all that was written back: NCCL writes a line for each call.
    void forget() const;

private:
    int file_;
    std::int64_t begin_;
};

} // namespace assay::collective
