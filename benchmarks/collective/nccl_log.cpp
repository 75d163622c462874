// SPDX-License-Identifier: Apache-2.0

#include "collective/nccl_log.hpp"

#include <assay/text.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>

namespace assay::collective {
namespace {

using Text = std::string_view;

/// The text after the first `mark`, if it occurs.
std::optional<Text> after(Text text, Text mark) {
    const auto at = text.find(mark);
    if (at == Text::npos) return std::nullopt;
    return text.substr(at + mark.size());
}

/// Letters, digits and underscores at the beginning; nothing where there are none or too many for a name.
Text word_of(Text text) {
    constexpr std::size_t longest = 40; // AllReduce_RSxLDMC_AGxSTMC has 25
    const auto is_part = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '_';
    };
    const auto* const end = std::ranges::find_if_not(text, is_part);
    const auto length = static_cast<std::size_t>(end - text.begin());
    return length > longest ? Text{} : text.substr(0, length);
}

/// A small number at the beginning.
std::optional<int> number_of(Text text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    return value;
}

constexpr int most_channels = 4096; // NCCL has at most 64

// Up to 2.23 algorithms and protocols are written as numbers.
constexpr std::array<Text, 7> algorithms{
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr std::array<Text, 3> protocols{"LL", "LL128", "SIMPLE"};

template <std::size_t N>
std::string name_of(Text text, const std::array<Text, N>& names) {
    const auto number = number_of(text);
    if (number)
        return std::string{static_cast<std::size_t>(*number) < N
                               ? names[static_cast<std::size_t>(*number)]
                               : Text{}};
    return std::string{word_of(text)};
}

/// "Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer", "... [send] via NET/IB/0/GDRDMA"
void read_connection(Text line, Connections& seen) {
    const auto way = after(line, " via ");
    if (!way) return;
    if (way->starts_with("P2P/")) seen.peer = true;
    if (way->starts_with("SHM/")) seen.shared = true;
    if (way->starts_with("COLLNET/")) seen.other = true;
    if (!way->starts_with("NET/")) return;
    const Text network = way->substr(4);
    const Text name = word_of(network);
    if (name.starts_with("IB"))
        seen.rdma = true;
    else if (name == "Socket")
        seen.socket = true;
    else
        seen.other = true;
    if (network.find("/GDRDMA") != Text::npos) seen.direct = true;
}

/// "Pattern 4, crossNic 0, nChannels 16, bw 30.0/30.0, type NVL/PIX, sameChannels 1": 4 is a ring, the
/// first type is that between the devices of a machine.
void read_pattern(Text line, NcclLog& log) {
    const auto type = after(line, ", type ");
    if (!line.starts_with("Pattern 4,") || !type) return;
    const Text link = word_of(*type);
    if (!link.empty() && type->substr(link.size()).starts_with('/')) log.link = link;
}

/// "AllReduce [Symmetric]: 1024 Bytes -> Kernel AllReduce_AGxLL_R nchannels 4 nthreads 512", 2.27 and later.
bool read_kernel(Text line, NcclLog& log) {
    const auto kernel =
        after(line, " [Symmetric]: ") ? after(line, " Bytes -> Kernel ") : std::nullopt;
    if (!kernel) return false;
    const Text name = word_of(*kernel);
    if (name.empty()) return true;
    log.kernel = name;
    log.algorithm.clear();
    log.protocol.clear();
    const auto channels = after(*kernel, " nchannels ");
    const auto count = channels ? number_of(*channels).value_or(0) : 0;
    log.channels = count <= most_channels ? count : 0;
    return true;
}

/// "AllReduce: 1024 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}" of 2.24 and later,
/// "1024 Bytes -> Algo 1 proto 0 time 12.3" of 2.20 to 2.23.
void read_choice(Text line, NcclLog& log) {
    const auto algorithm = after(line, " Bytes -> Algo ");
    if (!algorithm) return;
    const auto protocol = after(*algorithm, " proto ");
    if (!protocol) return; // cut off
    log.algorithm = name_of(*algorithm, algorithms);
    log.protocol = name_of(*protocol, protocols);
    log.kernel.clear();
    log.channels = 0;
    const auto low = after(*protocol, "={");
    const auto high = low ? after(*low, "..") : std::nullopt;
    if (!high) return;
    const auto first = number_of(*low);
    const auto last = number_of(*high);
    if (first && last && *first <= *last && *last < most_channels)
        log.channels = *last - *first + 1;
}

/// The name of a plugin, of its release or of a provider; empty if it cannot be one.
std::string plain(Text text) {
    constexpr std::size_t longest = 40;
    const auto is_odd = [](char c) {
        return word_of({&c, 1}).empty() && c != ' ' && c != '.' && c != '-';
    };
    const bool is_name = !text.empty() && text.size() <= longest && text.front() != ' ' &&
                         text.back() != ' ' && std::ranges::none_of(text, is_odd);
    return std::string{is_name ? text : Text{}};
}
Text first_word(Text text) { return text.substr(0, text.find_first_of(" ,(")); }

/// "NET/Plugin: Loaded net plugin AWS Libfabric (v8)", "NET/OFI Initializing aws-ofi-nccl 1.16.2",
/// "NET/OFI Selected provider is efa, fabric is efa (found 1 nics)", "Using network AWS Libfabric"
void read_network(Text line, NcclLog& log) {
    constexpr std::size_t most = 8;
    auto& plugins = log.plugins;
    if (const auto loaded = after(line, "NET/Plugin: Loaded net plugin ")) {
        const auto version = loaded->rfind(" (v");
        auto name = plain(loaded->substr(0, version));
        if (name.empty() || plugins.loaded.size() == most) return;
        auto interface = version == Text::npos ? Text{} : word_of(loaded->substr(version + 2));
        plugins.loaded.push_back({std::move(name), std::string{interface}});
    } else if (line.starts_with("Using network ")) {
        log.network = plain(line.substr(Text{"Using network "}.size()));
    } else if (const auto release = after(line, "NET/OFI Initializing aws-ofi-nccl ")) {
        const auto number = plain(first_word(*release));
        if (!number.empty()) plugins.release = joined("aws-ofi-nccl ", number);
    } else if (line.starts_with("NET/OFI Selected ")) {
        auto provider = after(line, "rovider is "); // "Provider" in older releases
        if (provider) plugins.provider = plain(first_word(*provider));
    }
}

bool is_nvlink(Text link) { return link == "NVL" || link == "NVB"; }

struct Named {
    bool seen;
    const char* name;
};

std::string listed(std::initializer_list<Named> names) {
    std::string words;
    for (const auto& [seen, name] : names) {
        if (!seen) continue;
        if (!words.empty()) words += " and ";
        words += name;
    }
    return words;
}

const char* peer_name(Text link) {
    if (link.empty()) return "peer";
    if (is_nvlink(link)) return "nvlink";
    if (link == "XGMI") return "xgmi"; // of AMD's devices, by RCCL
    return link == "C2C" ? "c2c" : "pcie_peer";
}

/// Connections of another kind than the one that was asked for.
std::string others(Way asked, const Connections& seen) {
    const bool peer = asked == Way::nvlink_ring || asked == Way::pcie_peer;
    return listed({{seen.peer && !peer, "peer access"},
                   {seen.shared && asked != Way::host_staged, "shared memory"},
                   {seen.rdma && asked != Way::rdma, "RDMA"},
                   {seen.socket && asked != Way::tcp, "TCP"},
                   {seen.other, "another network"}});
}

} // namespace

NcclLog read_nccl_log(Text text) {
    NcclLog log;
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (end == Text::npos) break; // cut off: half a line proves nothing
        const auto line = after(text.substr(0, end), "NCCL INFO ");
        text.remove_prefix(end + 1);
        if (!line) continue;
        if (line->starts_with("Channel ") || line->starts_with("CollNet "))
            read_connection(*line, log.connections);
        else if (line->starts_with("Pattern "))
            read_pattern(*line, log);
        else if (line->starts_with("NET/") || line->starts_with("Using network "))
            read_network(*line, log);
        else if (!read_kernel(*line, log))
            read_choice(*line, log);
    }
    return log;
}

std::string path_of(const NcclLog& log) {
    const Connections& seen = log.connections;
    return listed({{seen.peer, peer_name(log.link)},
                   {seen.shared, "shared_memory"},
                   {seen.rdma, seen.direct ? "rdma (to device memory)" : "rdma"},
                   {seen.socket, "tcp"},
                   {seen.other, "another network"}});
}

void recall_plugins(NcclLog& log) {
    static NetPlugins known;
    if (!log.plugins.loaded.empty()) known = log.plugins;
    log.plugins = known;
}

std::string net_plugin_of(const NcclLog& log) {
    const Connections& seen = log.connections;
    const auto& loaded = log.plugins.loaded;
    const auto by_name = std::ranges::find_if(
        loaded, [&](const auto& plugin) { return plugin.name == log.network; });
    const bool is_internal = log.network.empty() || log.network == "IB" || log.network == "Socket";
    if (!(seen.rdma || seen.socket || seen.other) || (is_internal && by_name == loaded.end()))
        return {};
    std::string text = log.network;
    // Some have another name once they are initialised.
    const auto one = by_name == loaded.end() && loaded.size() == 1 ? loaded.begin() : by_name;
    if (one != loaded.end() && !one->interface.empty()) text.append(" ").append(one->interface);
    for (const auto& more : {log.plugins.release, log.plugins.provider})
        if (!more.empty()) text.append(", ").append(more);
    return text;
}

Links links_of(const NcclLog& log) {
    const std::string path = path_of(log);
    if (path.empty()) return Links::unknown;
    if (path == "nvlink") return Links::nvlink;
    return path == "pcie_peer" || path == "shared_memory" ? Links::host : Links::other;
}

namespace {

std::string contradiction(Way asked, const NcclLog& log) {
    if (asked == Way::fastest) return {};
    if (const auto wrong = others(asked, log.connections); !wrong.empty())
        return "NCCL's log shows connections by " + wrong;
    if (log.algorithm.starts_with("NVLS"))
        return "NCCL's log shows the algorithm " + log.algorithm +
               ", which goes through NVLink's switch";
    if (asked == Way::nvlink_ring && !log.algorithm.empty() && log.algorithm != "RING")
        return "NCCL's log shows the algorithm " + log.algorithm;
    const Text link = log.link;
    if (asked == Way::nvlink_ring && !link.empty() && !is_nvlink(link))
        return "NCCL's log shows a ring over links of type " + log.link + ", not NVLink";
    if (asked == Way::pcie_peer && (is_nvlink(link) || link == "C2C" || link == "XGMI"))
        return "NCCL's log shows a ring over links of type " + log.link +
               ": where there are such links, peers cannot be made to use PCIe";
    return {};
}

/// The word for a value in the log's capitals; nothing for NCCL's own choice.
template <class Names, class Value>
std::string word_in_log(const Names& names, Value value) {
    std::string word;
    for (const auto& name : names)
        if (name.value == value && value != Value::own_choice) word = name.text;
    for (char& c : word)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return word;
}

} // namespace

std::string contradiction(const NcclChoice& asked, const NcclLog& log) {
    if (auto wrong = contradiction(asked.way, log); !wrong.empty()) return wrong;
    const auto algorithm = word_in_log(algorithm_names, asked.algorithm);
    const auto protocol = word_in_log(protocol_names, asked.protocol);
    if (!algorithm.empty() && !log.algorithm.empty() && log.algorithm != algorithm)
        return "NCCL's log shows the algorithm " + log.algorithm + ", not " + algorithm;
    if (!protocol.empty() && !log.protocol.empty() && log.protocol != protocol)
        return "NCCL's log shows the protocol " + log.protocol + ", not " + protocol;
    if (!log.kernel.empty() && asked.buffers != Allocation::symmetric)
        return "NCCL's log shows the kernel " + log.kernel + ", which is for symmetric buffers";
    return {};
}

std::string unproved(const NcclChoice& asked, const NcclLog& log) {
    // Kernels for symmetric buffers need no connections.
    if (!log.connections.any() && log.kernel.empty()) return "no connection in NCCL's log";
    const bool peer = asked.way == Way::nvlink_ring || asked.way == Way::pcie_peer;
    if (peer && log.link.empty()) return "no type of link in NCCL's log";
    if (asked.algorithm != NcclAlgorithm::own_choice && log.algorithm.empty())
        return "no algorithm in NCCL's log";
    if (asked.protocol != NcclProtocol::own_choice && log.protocol.empty())
        return "no protocol in NCCL's log";
    return {};
}

LinkExpectation expected_of_nvlink(const NcclChoice& asked, const NcclLog& log,
                                   double least_carried, int machines) {
    // "Nearly none": others may use the links, and NCCL itself sends some words at the beginning.
    constexpr double stray = 0.1;
    const LinkExpectation carries{.least = least_carried, .most = {}};
    const LinkExpectation carries_none{.least = {}, .most = stray * least_carried};
    if (asked.way == Way::nvlink_ring) return carries;
    if (asked.way != Way::fastest) return carries_none;
    // Between hosts a part goes by the network, and which part depends on the algorithm.
    if (machines > 1) return {};
    if (log.algorithm.starts_with("NVLS")) return carries;
    const bool by_nvlink = is_nvlink(log.link);
    const Connections& seen = log.connections;
    const bool others = seen.shared || seen.rdma || seen.socket || seen.other;
    if (seen.peer && !others && by_nvlink) return carries;
    // Kernels for symmetric buffers leave no connections in the log.
    const bool none = !by_nvlink && !log.link.empty() && log.kernel.empty();
    return seen.any() && none ? carries_none : LinkExpectation{};
}
namespace {

/// -1 where the kernel gives none: then nothing is proved.
int open_log() {
    const int file = ::memfd_create("nccl-log", MFD_CLOEXEC);
    if (file < 0) return file;
    const std::string path = joined("/proc/self/fd/", file);
    constexpr int replace = 1;
    // NOLINTBEGIN(concurrency-mt-unsafe): before the first thread of NCCL
    ::setenv("NCCL_DEBUG", "INFO", replace);
    ::setenv("NCCL_DEBUG_SUBSYS", "INIT,GRAPH,TUNING,ENV,NET,P2P,SHM", replace);
    ::setenv("NCCL_DEBUG_FILE", path.c_str(), replace);
    // NOLINTEND(concurrency-mt-unsafe)
    return file;
}

/// One for the process, as NCCL has one.
int log_of_process() {
    static const int file = open_log();
    return file;
}

std::int64_t size_of(int file) {
    struct stat status{};
    if (file < 0 || ::fstat(file, &status) != 0) return 0;
    return status.st_size;
}

} // namespace

LogFile::LogFile() : file_{log_of_process()}, begin_{size_of(file_)} {}

std::string LogFile::text() const {
    constexpr std::int64_t most = std::int64_t{16} << 20U; // 8 devices write less than one
    const auto length = std::clamp<std::int64_t>(size_of(file_) - begin_, 0, most);
    std::string text(static_cast<std::size_t>(length), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const auto got = ::pread(file_, text.data() + done, text.size() - done,
                                 begin_ + static_cast<std::int64_t>(done));
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

void LogFile::forget() const {
    // NCCL goes on writing where it was, so the length stays.
    if (const auto size = size_of(file_); size > 0)
        ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size);
}

} // namespace assay::collective
