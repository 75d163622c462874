// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "memory/device_chain.hpp"

namespace assay::memory {
namespace {

/// One step.
template <Through through>
const __device__ DeviceNode* next_of(const DeviceNode* node) {
    if constexpr (through == Through::l1)
        return device::load_through_l1(&node->next);
    else
        return device::load_through_l2(&node->next);
}

template <Through through>
__global__ void chase(const DeviceNode* nodes, std::uint64_t count, Walk* walk, bool reads_ahead,
                      std::uint64_t steps) {
    if (reads_ahead) {
        std::uintptr_t bits = 0;
        for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x)
            bits |= reinterpret_cast<std::uintptr_t>(next_of<through>(nodes + i));
        // Never true of addresses of lines; a load whose value nobody wants would be left out.
        if (bits == 1) walk->end = nullptr;
        __syncthreads();
    }
    if (threadIdx.x != 0) return;
    const DeviceNode* const from = walk->start;
    const DeviceNode* node = from;
    for (std::uint64_t i = 0; i < steps; i += 8)
#pragma unroll
        for (int k = 0; k < 8; ++k) node = next_of<through>(node);
    walk->from = from;
    walk->end = node;
    walk->start = node;
}

/// The same chain as words of shared memory that hold the address of the next.
__global__ void chase_shared(const DeviceNode* nodes, std::uint64_t count, Walk* walk,
                             std::uint64_t steps) {
    auto* const words = device::dynamic_shared<unsigned>();
    const unsigned base = device::shared_address(words);
    for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x)
        words[i] = base + static_cast<unsigned>(shared_node * (nodes[i].next - nodes));
    __syncthreads();
    if (threadIdx.x != 0) return;
    const DeviceNode* const from = walk->start;
    unsigned at = base + static_cast<unsigned>(shared_node * (from - nodes));
    for (std::uint64_t i = 0; i < steps; i += 8)
#pragma unroll
        for (int k = 0; k < 8; ++k) at = device::load_shared(at);
    walk->from = from;
    walk->end = nodes + (at - base) / shared_node;
    walk->start = walk->end;
}

using Loop = void (*)(const DeviceNode*, std::uint64_t, Walk*, bool, std::uint64_t);

class DeviceLatency : public device::OnDevice {
public:
    struct Params {
        Through through = Through::l1;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.latency",
        .question = "What is the load-to-use latency of one thread of this device, by footprint?",
        .method =
            "One thread chases pointers, one per 128-byte line (per word in shared memory), in "
            "random order over the whole footprint: 65536 dependent loads per call in a "
            "first-level cache or shared memory, 4096 beyond, resuming where the last call "
            "stopped. Chains up to 256 KiB are read once by many threads of the same kernel first, "
            "because kernels start with a cold first-level cache. Checked on the device: the chain "
            "visits every line exactly once, and the chase ended where it should.",
        .caveats =
            "Address translation is included: the TLBs cover some gigabytes at most. `through` l2 "
            "bypasses the first-level cache; the second-level cache of large devices has a near "
            "and a far half, of which this is the mean seen from one multiprocessor. Near the size "
            "of a cache part of the lines hit it. All other multiprocessors are idle.",
        .headline = "latency",
        .place = device::place_kind,
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        choice("through",
               "where loads look first: l1, the multiprocessor's cache; l2, past it; shared, the "
               "memory that threads share (footprint of at most what one block may have)",
               &Params::through,
               {{"l1", Through::l1}, {"l2", Through::l2}, {"shared", Through::shared}},
               {Through::l1}),
        chain_axis(&Params::footprint),
    };
    /// rewind() only mends what spoil() broke.
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (p.through != Through::shared) return device::fits_footprint(p.footprint, 256_MiB);
        if (p.footprint.symbol != Symbol::none)
            return Fit::no("not applicable: shared memory is never beyond a cache");
        if (Fit device = device::fits_device(0); !device) return device;
        const auto most = device::properties().shared_bytes_per_block;
        return Fit::needs(p.footprint.number <= most, p.footprint.number,
                          " bytes of shared memory, a block may have ", most);
    }

    DeviceLatency(const Params& p, const Context& context)
        : footprint_{device::footprint(p.footprint, 1, device::properties())},
          count_{chain_nodes(footprint_, p.through)}, through_{p.through},
          steps_{chase_steps(footprint_, through_)}, nodes_{count_}, walk_{1} {
        prepare();
        device::for_each_now(stream_, count_,
                             LinkNode{nodes_.data(), count_, Shuffle{count_, chain_seed}});
        const Walk walk{.from = nodes_.data(), .end = nullptr, .start = nodes_.data()};
        device::put(walk, walk_.data(), stream_);
        context.setting("footprint", footprint_);
        context.setting("nodes", count_);
        context.setting("steps", steps_);
    }

    void run() {
        device::Launch how{1, reading_threads, stream_.get()};
        if (through_ != Through::shared)
            return device::launch(loop(), how, nodes_.data(), count_, walk_.data(),
                                  reads_ahead(footprint_, through_), steps_);
        how.shared_bytes = count_ * shared_node;
        device::launch(chase_shared, how, nodes_.data(), count_, walk_.data(), steps_);
    }
    Work work() const { return {.steps = static_cast<double>(steps_)}; }

    Check verify() const {
        Check check =
            device::check_each(stream_, count_, WrongLink{nodes_.data(), count_}, 0, links_method);
        if (!check.passed) return check;
        const Walk walk = device::to_host(walk_, stream_).front();
        if (!is_node(walk.from) || !is_node(walk.end)) return not_followed();
        return check_end(node_at(walk.from).rank, steps_, node_at(walk.end).rank, count_);
    }
    void poison() {
        Walk walk = device::to_host(walk_, stream_).front();
        walk.from = walk.end = nullptr;
        device::put(walk, walk_.data(), stream_);
    }
    /// One link leads one node too far, so that one line of all is never visited; in a chain of one, out of
    /// it.
    void spoil() {
        DeviceNode* const at = nodes_.data() + spoils_.next() % count_;
        const DeviceNode whole = node_at(at);
        broken_.push_back({.at = at, .whole = whole});
        DeviceNode node = whole;
        node.next = count_ == 1 ? nodes_.data() + 1 : node_at(node.next).next;
        device::put(node, at, stream_);
    }
    void rewind() {
        for (; !broken_.empty(); broken_.pop_back())
            device::put(broken_.back().whole, broken_.back().at, stream_);
    }

private:
    static constexpr unsigned reading_threads = 256;

    /// Setting that a kernel needs before its first launch: the largest first level cache, or room in shared memory.
    void prepare() const {
        if (through_ == Through::shared)
            device::check(cudaFuncSetAttribute(chase_shared,
                                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               static_cast<int>(count_ * shared_node)));
        else
            device::check(cudaFuncSetAttribute(loop(),
                                               cudaFuncAttributePreferredSharedMemoryCarveout,
                                               cudaSharedmemCarveoutMaxL1));
    }
    Loop loop() const { return through_ == Through::l1 ? chase<Through::l1> : chase<Through::l2>; }

    struct Broken {
        DeviceNode* at;
        DeviceNode whole;
    };

    bool is_node(const DeviceNode* at) const {
        const auto offset =
            reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(nodes_.data());
        return at != nullptr && offset % sizeof(DeviceNode) == 0 &&
               offset / sizeof(DeviceNode) < count_;
    }
    DeviceNode node_at(const DeviceNode* at) const { return device::get(at, stream_); }

    std::int64_t footprint_;
    std::uint64_t count_; // nodes
    Through through_;
    std::uint64_t steps_; // of a call, a multiple of 8
    device::Buffer<DeviceNode> nodes_;
    device::Buffer<Walk> walk_;
    Picks spoils_{chain_spoil_seed};
    std::vector<Broken> broken_; // as they were
};

} // namespace

extern constinit const assay_benchmark device_latency = define<DeviceLatency>();

} // namespace assay::memory
