// SPDX-License-Identifier: Apache-2.0
//
// NCCL's calls between devices on the CPU, of one process or of several of this machine: what each rank of a group call
// sends goes to a file in memory that all ranks reach, and when all have written, each reads what is for it. The log
// says what NCCL 2.28 says, with the transport, algorithm and protocol that its variables ask for; unlike NCCL's they
// are read for each communicator, NCCL_P2P_LEVEL=SYS makes the links PCIe's, and ASSAY_CPU_LINK=XGMI AMD's.
// ASSAY_CPU_FAULT=nccl leaves the last rank out of sums and gathers; nccl_call: calls fail; nccl_windows: no windows.

#include "fault.hpp"
#include "nccl_meeting.hpp"
#include "runtime.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using assay::device_on_cpu::Bytes;
using assay::device_on_cpu::current_device;
using assay::device_on_cpu::device_of;
using assay::device_on_cpu::has_fault;
using assay::device_on_cpu::held;
using assay::device_on_cpu::Meeting;

namespace {

std::string variable(const char* name, const char* otherwise = "") {
    const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? otherwise : value;
}

std::string& last_error() {
    static std::string words;
    return words;
}
ncclResult_t refuse(ncclResult_t status, std::string why) {
    last_error() = std::move(why);
    return status;
}

} // namespace

struct ncclComm {
    int rank;
    int device;
    std::shared_ptr<Meeting> meeting;
    std::string link;      ///< between devices, as the log has it
    std::string algorithm; ///< "RING"
    std::string protocol;
    std::vector<std::pair<const char*, std::size_t>> windows{};

    int ranks() const { return meeting->ranks(); }
    bool has_window(const void* memory) const {
        const auto* const at = static_cast<const char*>(memory);
        return std::ranges::any_of(windows, [&](const auto& window) {
            return at >= window.first && at < window.first + window.second;
        });
    }
};

namespace {

// --- the log -------------------------------------------------------------------------------------------

/// To the file that NCCL_DEBUG_FILE names, read at the first line.
void log(const ncclComm& communicator, const std::string& text) {
    if (variable("NCCL_DEBUG") != "INFO") return;
    static std::ofstream file{variable("NCCL_DEBUG_FILE", "/dev/null")};
    file << "host:" << ::getpid() << ':' << ::getpid() << " [" << communicator.device
         << "] NCCL INFO " << text << '\n'
         << std::flush;
}

std::string capitals(std::string text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

/// NCCL_ALGO's words are the log's without underscores.
std::string algorithm_asked() {
    const std::string asked = variable("NCCL_ALGO", "Ring");
    if (asked == "CollNetDirect") return "COLLNET_DIRECT";
    if (asked == "CollNetChain") return "COLLNET_CHAIN";
    return asked == "NVLSTree" ? "NVLS_TREE" : capitals(asked);
}

std::string connection_asked() {
    if (variable("NCCL_P2P_DISABLE") != "1") return "P2P/CUMEM";
    if (variable("NCCL_SHM_DISABLE") != "1") return "SHM/direct/direct";
    return "NET/" + variable("NCCL_NET", "Socket") + "/0";
}

void log_connection(const ncclComm& c) {
    log(c, "Using network " + variable("NCCL_NET", "Socket"));
    const int next = (c.rank + 1) % c.ranks();
    const auto name = [](int rank) {
        return std::to_string(rank) + '[' + std::to_string(rank) + ']';
    };
    log(c, "Pattern 4, crossNic 0, nChannels 4, bw 30.000000/30.000000, type " + c.link +
               "/PIX, sameChannels 1");
    log(c, "Channel 00/0 : " + name(c.rank) + " -> " + name(next) + " via " + connection_asked());
}

// --- calls ---------------------------------------------------------------------------------------------

enum class What : std::uint8_t { allreduce, reduce_scatter, allgather, broadcast, send, receive };

/// Header of a call in a rank's file, before the data.
struct Header {
    What what;
    ncclDataType_t type;
    int peer; ///< or root
    std::size_t count;

    bool operator==(const Header&) const = default;
};

struct Call {
    Header header;
    const void* from;
    void* to;
    ncclComm* communicator;
    cudaStream_t stream;
};

std::size_t width_of(ncclDataType_t type) {
    switch (type) {
    case ncclFloat64:
        return 8;
    case ncclFloat32:
        return 4;
    case ncclFloat16:
    case ncclBfloat16:
        return 2;
    default:
        return 1;
    }
}
/// Bytes that a rank sends, and gets.
std::size_t sent(const Header& h, int ranks) {
    if (h.what == What::receive) return 0;
    return h.count * width_of(h.type) *
           (h.what == What::reduce_scatter ? static_cast<std::size_t>(ranks) : 1);
}
std::size_t received(const Header& h, int ranks) {
    if (h.what == What::send) return 0;
    return h.count * width_of(h.type) *
           (h.what == What::allgather ? static_cast<std::size_t>(ranks) : 1);
}

/// A rank's calls of this group, in their order, from its file.
struct Sent {
    Header header;
    Bytes data;
};

void publish(const std::vector<Call>& calls, const ncclComm& communicator) {
    Bytes all;
    for (const Call& call : calls) {
        if (call.communicator != &communicator) continue;
        const auto* const header = reinterpret_cast<const char*>(&call.header);
        all.insert(all.end(), header, header + sizeof call.header);
        const auto* const from = static_cast<const char*>(call.from);
        all.insert(all.end(), from, from + sent(call.header, communicator.ranks()));
    }
    communicator.meeting->box(communicator.rank).write(all);
}

std::vector<Sent> sent_by(int rank, const Meeting& meeting) {
    const Bytes all = meeting.box(rank).read();
    std::vector<Sent> calls;
    for (std::size_t at = 0; at < all.size();) {
        Sent call{};
        std::memcpy(&call.header, all.data() + at, sizeof call.header);
        const auto* const data = all.data() + at + sizeof call.header;
        const std::size_t bytes = sent(call.header, meeting.ranks());
        call.data.assign(data, data + bytes);
        calls.push_back(std::move(call));
        at += sizeof call.header + bytes;
    }
    return calls;
}

template <class T, class ToNumber>
void add(Bytes& sum, const char* other, const ToNumber& number) {
    auto* const to = reinterpret_cast<T*>(sum.data());
    const auto* const from = reinterpret_cast<const T*>(other);
    for (std::size_t i = 0; i < sum.size() / sizeof(T); ++i)
        to[i] = T(number(to[i]) + number(from[i])); // rounded to the type at each step
}
void add(ncclDataType_t type, Bytes& sum, const char* other) {
    const auto as_float = [](auto x) { return static_cast<float>(x); };
    switch (type) {
    case ncclFloat64:
        return add<double>(sum, other, [](double x) { return x; });
    case ncclFloat32:
        return add<float>(sum, other, as_float);
    case ncclFloat16:
        return add<__half>(sum, other, as_float);
    case ncclBfloat16:
        return add<__nv_bfloat16>(sum, other, as_float);
    case ncclFloat8e4m3:
        return add<__nv_fp8_e4m3>(sum, other, as_float);
    default:
        return add<__nv_fp8_e5m2>(sum, other, as_float);
    }
}

/// One rank's part of a collective; `all`: what each rank has sent for it.
void collect(const Call& call, const std::vector<const Sent*>& all) {
    auto* const to = static_cast<char*>(call.to);
    const std::size_t bytes = call.header.count * width_of(call.header.type);
    const bool leaves_out = has_fault("nccl");
    const std::size_t ranks = leaves_out ? all.size() - 1 : all.size();
    if (call.header.what == What::broadcast) {
        if (leaves_out && call.communicator->rank + 1 == static_cast<int>(all.size())) return;
        std::ranges::copy(all[static_cast<std::size_t>(call.header.peer)]->data, to);
        return;
    }
    if (call.header.what == What::allgather) {
        for (std::size_t rank = 0; rank < ranks; ++rank)
            std::ranges::copy(all[rank]->data, to + rank * bytes);
        return;
    }
    const bool scatters = call.header.what == What::reduce_scatter;
    const std::size_t at = scatters ? static_cast<std::size_t>(call.communicator->rank) * bytes : 0;
    const char* const first = all[0]->data.data() + at;
    Bytes sum(first, first + bytes);
    for (std::size_t rank = 1; rank < ranks; ++rank)
        add(call.header.type, sum, all[rank]->data.data() + at);
    std::ranges::copy(sum, to);
}

/// The n-th call of a rank's file that `is_it`, or null.
template <class IsIt>
const Sent* nth(const std::vector<Sent>& calls, int n, const IsIt& is_it) {
    for (const Sent& call : calls)
        if (is_it(call.header) && n-- == 0) return &call;
    return nullptr;
}

bool is_collective(const Header& h) { return h.what != What::send && h.what != What::receive; }

/// Does what the calls of one rank of this process receive; "" or what did not go together.
std::string receive(const std::vector<Call>& calls, const ncclComm& communicator) {
    std::vector<std::vector<Sent>> of;
    for (int rank = 0; rank < communicator.ranks(); ++rank)
        of.push_back(sent_by(rank, *communicator.meeting));
    int collectives = 0;
    std::vector<int> from_peer(of.size(), 0);
    for (const Call& call : calls) {
        if (call.communicator != &communicator || call.header.what == What::send) continue;
        if (is_collective(call.header)) {
            std::vector<const Sent*> all;
            for (const auto& rank : of) {
                all.push_back(nth(rank, collectives, is_collective));
                if (all.back() == nullptr || !(all.back()->header == call.header))
                    return "ranks call different collectives";
            }
            ++collectives;
            collect(call, all);
            continue;
        }
        const auto peer = static_cast<std::size_t>(call.header.peer);
        const Sent* const message = nth(of[peer], from_peer[peer]++, [&](const Header& h) {
            return h.what == What::send && h.peer == communicator.rank;
        });
        if (message == nullptr || message->header.count != call.header.count)
            return "a receive that no rank sends to";
        std::ranges::copy(message->data, static_cast<char*>(call.to));
    }
    return {};
}

void log_call(const Call& call) {
    static constexpr const char* names[] = {"AllReduce", "ReduceScatter", "AllGather",
                                            "Broadcast", "SendRecv",      "SendRecv"};
    const ncclComm& c = *call.communicator;
    if (c.rank != 0 || !is_collective(call.header)) return;
    const std::string name = names[static_cast<std::size_t>(call.header.what)];
    const std::string bytes = std::to_string(call.header.count * width_of(call.header.type));
    const bool one_way = call.header.what == What::broadcast;
    if (c.has_window(call.from) && c.has_window(call.to) && !one_way)
        return log(c, name + " [Symmetric]: " + bytes + " Bytes -> Kernel " + name +
                          "_LL nchannels 4 nthreads 512");
    log(c, name + ": " + bytes + " Bytes -> Algo " + (one_way ? "RING" : c.algorithm) + " proto " +
               c.protocol + " channel{Lo..Hi}={0..3}");
}

/// All ranks of this process that take part in a group.
std::vector<ncclComm*> members_of(const std::vector<Call>& calls) {
    std::vector<ncclComm*> members;
    for (const Call& call : calls)
        if (std::ranges::find(members, call.communicator) == members.end())
            members.push_back(call.communicator);
    return members;
}

/// On the device, as far as there is one: what the calls of one group do.
std::string execute(const std::vector<Call>& calls) {
    const auto members = members_of(calls);
    const Meeting& meeting = *members.front()->meeting;
    const auto here = static_cast<int>(members.size());
    for (const ncclComm* member : members) publish(calls, *member);
    std::string problem;
    if (!meeting.wait(here)) return "a rank takes no part in the call";
    for (const ncclComm* member : members)
        if (problem.empty()) problem = receive(calls, *member);
    if (!problem.empty()) meeting.fail();
    if (!meeting.wait(here) && problem.empty()) problem = "another process has failed";
    return problem;
}

int depth = 0;
std::vector<Call>& queue() {
    static std::vector<Call> calls;
    return calls;
}

ncclResult_t run(const std::vector<Call>& calls) {
    if (has_fault("nccl_call")) return refuse(ncclInternalError, "as planted");
    for (const Call& call : calls) log_call(call);
    last_error().clear();
    assay::device_on_cpu::enqueue(calls.front().stream, [calls] { last_error() = execute(calls); });
    return last_error().empty() ? ncclSuccess : ncclInvalidUsage;
}

bool is_reachable(const void* memory, std::size_t bytes, int device) {
    return bytes == 0 || (device_of(memory) == device &&
                          device_of(static_cast<const char*>(memory) + bytes - 1) == device);
}

ncclResult_t take(const Call& call) {
    const ncclComm& c = *call.communicator;
    if (call.header.peer < 0 || call.header.peer >= c.ranks())
        return refuse(ncclInvalidArgument, "no such rank");
    if (!is_reachable(call.from, sent(call.header, c.ranks()), c.device) ||
        !is_reachable(call.to, received(call.header, c.ranks()), c.device))
        return refuse(ncclInvalidArgument, "memory that is not of the communicator's device");
    queue().push_back(call);
    if (depth > 0) return ncclSuccess;
    const auto calls = std::exchange(queue(), {});
    return run(calls);
}
ncclResult_t take(What what, const void* from, void* to, std::size_t count, ncclDataType_t type,
                  int peer, ncclComm_t communicator, cudaStream_t stream) {
    return take({{what, type, peer, count}, from, to, communicator, stream});
}

ncclComm* new_rank(int rank, int device, const std::shared_ptr<Meeting>& meeting) {
    const std::string link =
        variable("NCCL_P2P_LEVEL") == "SYS" ? "SYS" : variable("ASSAY_CPU_LINK", "NVL");
    auto* const made = new ncclComm{.rank = rank,
                                    .device = device,
                                    .meeting = meeting,
                                    .link = link,
                                    .algorithm = algorithm_asked(),
                                    .protocol = capitals(variable("NCCL_PROTO", "Simple"))};
    log_connection(*made);
    ++held().communicators;
    return made;
}

} // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t status) {
    return status == ncclInvalidUsage      ? "invalid usage"
           : status == ncclInvalidArgument ? "invalid argument"
                                           : "internal error";
}
const char* ncclGetLastError(ncclComm_t /*communicator*/) { return last_error().c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    static int count = 0;
    const std::string name =
        "/assay-nccl-" + std::to_string(::getpid()) + '-' + std::to_string(++count);
    *id = {};
    name.copy(id->internal, sizeof id->internal - 1);
    return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
    const auto meeting = std::make_shared<Meeting>(id.internal, ranks);
    *communicator = new_rank(rank, current_device(), meeting);
    return meeting->join(1) ? ncclSuccess : refuse(ncclRemoteError, "not all ranks have come");
}
ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int count, const int* devices) {
    ncclUniqueId id{};
    ncclGetUniqueId(&id);
    const auto meeting = std::make_shared<Meeting>(id.internal, count);
    for (int rank = 0; rank < count; ++rank)
        communicators[rank] = new_rank(rank, devices == nullptr ? rank : devices[rank], meeting);
    return meeting->join(count) ? ncclSuccess : ncclInternalError;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
    delete communicator;
    --held().communicators;
    return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
    communicator->meeting->fail();
    ++held().aborted;
    return ncclCommDestroy(communicator);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t /*communicator*/, ncclResult_t* late) {
    *late = ncclSuccess;
    return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void** memory, std::size_t bytes) {
    return cudaMalloc(memory, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclMemFree(void* memory) {
    return cudaFree(memory) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclCommRegister(ncclComm_t communicator, void* memory, std::size_t bytes,
                              void** handle) {
    if (!is_reachable(memory, bytes, communicator->device))
        return refuse(ncclInvalidArgument, "memory that is not of the communicator's device");
    *handle = memory;
    ++held().registrations;
    return ncclSuccess;
}
ncclResult_t ncclCommDeregister(ncclComm_t /*communicator*/, void* /*handle*/) {
    --held().registrations;
    return ncclSuccess;
}
ncclResult_t ncclCommWindowRegister(ncclComm_t communicator, void* memory, std::size_t bytes,
                                    ncclWindow_t* window, int flags) {
    if (flags != NCCL_WIN_COLL_SYMMETRIC || !is_reachable(memory, bytes, communicator->device))
        return refuse(ncclInvalidArgument, "a window that is not symmetric, or of another device");
    if (has_fault("nccl_windows")) return ncclSuccess;
    ++held().registrations;
    communicator->windows.emplace_back(static_cast<const char*>(memory), bytes);
    *window = static_cast<ncclWindow_t>(memory);
    return ncclSuccess;
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t communicator, ncclWindow_t window) {
    --held().registrations;
    std::erase_if(communicator->windows,
                  [&](const auto& one) { return one.first == reinterpret_cast<char*>(window); });
    return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
    ++depth;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    if (--depth > 0 || queue().empty()) return ncclSuccess;
    const auto calls = std::exchange(queue(), {});
    return run(calls);
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
    if (operation != ncclSum) return refuse(ncclInvalidArgument, "sums alone");
    return take(What::allreduce, from, to, count, type, 0, communicator, stream);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t communicator,
                               cudaStream_t stream) {
    if (operation != ncclSum) return refuse(ncclInvalidArgument, "sums alone");
    return take(What::reduce_scatter, from, to, count, type, 0, communicator, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
    return take(What::allgather, from, to, count, type, 0, communicator, stream);
}
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t communicator, cudaStream_t stream) {
    return take(What::broadcast, from, to, count, type, root, communicator, stream);
}
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
    return take(What::send, from, nullptr, count, type, peer, communicator, stream);
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
    return take(What::receive, nullptr, to, count, type, peer, communicator, stream);
}

} // extern "C"
