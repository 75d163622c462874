// SPDX-License-Identifier: Apache-2.0

#include "device/place.hpp"
#include "device/properties.hpp"
#include "memory/device_chase.hpp"

#include <assay/define.hpp>
#include <assay/random.hpp>
#include <assay/units.hpp>
#include <assay/verify.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

namespace assay::memory {
namespace {

using namespace units;

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
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        choice("through",
               "where loads look first: l1, the multiprocessor's cache; l2, past it; shared, the "
               "memory that threads share (footprint of at most what one block may have)",
               &Params::through,
               {{"l1", Through::l1}, {"l2", Through::l2}, {"shared", Through::shared}},
               {Through::l1}),
        footprint_axis("bytes of the chain", &Params::footprint,
                       {16_KiB, 256_KiB, 8_MiB, Symbol::beyond_cache}, {1_KiB, 16_TiB}),
    };
    /// rewind() only mends what spoil() broke.
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const bool is_plain = p.footprint.symbol == Symbol::none;
        if (p.through != Through::shared)
            return device::fits_device(is_plain ? p.footprint.number : 256_MiB);
        if (!is_plain) return Fit::no("not applicable: shared memory is never beyond a cache");
        if (Fit device = device::fits_device(0); !device) return device;
        const auto most = device::properties().shared_bytes_per_block;
        return Fit::needs(p.footprint.number <= most, p.footprint.number,
                          " bytes of shared memory, a block may have ", most);
    }

    DeviceLatency(const Params& p, const Context& context)
        : footprint_{device::footprint(p.footprint, 1, device::properties())},
          count_{chain_nodes(footprint_, p.through)},
          shape_{.through = p.through,
                 .reads_ahead = reads_ahead(footprint_, p.through),
                 .steps = chase_steps(footprint_, p.through)},
          nodes_{count_}, walk_{1} {
        prepare_chase(p.through, count_);
        link_nodes(nodes_.data(), count_, stream_);
        const Walk walk{.from = nodes_.data(), .end = nullptr, .start = nodes_.data()};
        device::put(walk, walk_.data(), stream_);
        context.setting("footprint", footprint_);
        context.setting("nodes", count_);
        context.setting("steps", shape_.steps);
    }

    void run() { launch_chase(nodes_.data(), count_, walk_.data(), shape_, stream_); }
    Work work() const { return {.steps = static_cast<double>(shape_.steps)}; }

    Check verify() const {
        const char* const method = "every link of the chain, and where the chase ended";
        Check check = check_nodes(nodes_.data(), count_, stream_);
        if (!check.passed) return check;
        const Walk walk = device::to_host(walk_, stream_).front();
        if (!is_node(walk.from) || !is_node(walk.end))
            return check_value(1, 0, method, "the chain was not followed");
        const std::uint64_t from = node_at(walk.from).rank;
        const std::uint64_t end = node_at(walk.end).rank;
        return check_value(end == (from + shape_.steps) % count_ ? 0 : 1, 0, method,
                           joined("the chase ended at node ", end, " of the chain after ",
                                  shape_.steps, " steps from node ", from));
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
        put(at, node);
    }
    void rewind() {
        for (; !broken_.empty(); broken_.pop_back()) put(broken_.back().at, broken_.back().whole);
    }

private:
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
    void put(DeviceNode* at, const DeviceNode& node) { device::put(node, at, stream_); }

    std::int64_t footprint_;
    std::uint64_t count_; // nodes
    ChaseShape shape_;
    device::Buffer<DeviceNode> nodes_;
    device::Buffer<Walk> walk_;
    Picks spoils_{8};
    std::vector<Broken> broken_; // as they were
};

} // namespace

extern constinit const assay_benchmark device_latency = define<DeviceLatency>();

} // namespace assay::memory
