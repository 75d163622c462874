// SPDX-License-Identifier: Apache-2.0

#include "chase.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace assay::memory {
namespace {

class Tlb {
public:
    struct Params {
        std::int64_t count = 0;
        Pages pages = Pages::small;
    };
    static constexpr Info info{
        .id = "memory.tlb",
        .question = "How many pages does one core reach before it waits for their addresses, and "
                    "how long does it wait?",
        .method = "Pointer chase in random order over `count` pages, one cache line of each, "
                  "2048 dependent loads per call. `translation_latency` is the extra time of a "
                  "load over that of a chase through as many adjacent lines: the median of seven "
                  "turns of both, after the window. Checked: the chain visits every page exactly "
                  "once, and each call ends 2048 nodes further.",
        .caveats = "Each level of the TLB is a step of the curve over `count`; its reach is that "
                   "many pages. Lines of pages are spread over all sets of the first cache, but "
                   "the sets in other caches depend on physical addresses: if the lines fill "
                   "such a cache, its misses count as translation. Processors that merge "
                   "neighbouring pages reach further, and in a virtual machine a miss walks two "
                   "tables.",
        .headline = "latency",
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        integer("count", "pages", "", &Params::count, {16, 256, 1024, 4096, 16384}, {16, 1 << 26U}),
        choice("pages", "huge (2 MiB) or small (the usual size, 4 KiB on most)", &Params::pages,
               {Name{"small", Pages::small}, Name{"huge", Pages::huge}}, {Pages::small}),
    };
    /// rewind() only mends what spoil() broke.
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& p, const Machine& m) {
        return fits_memory(p.count * static_cast<std::int64_t>(page_of(p) + sizeof(Node)), p.pages,
                           m);
    }

    Tlb(const Params& p, const Context& context)
        : count_{static_cast<std::size_t>(p.count)}, page_{page_of(p)},
          memory_{count_ * page_, p.pages}, dense_{count_ * sizeof(Node), Pages::huge} {
        const Shuffle shuffle{count_, chain_seed};
        for (std::size_t rank = 0; rank < count_; ++rank) {
            Node& node = *node_of(shuffle(rank));
            node.next = node_of(shuffle((rank + 1) % count_));
            node.rank = rank;
        }
        link(side_by_side());
        start_ = end_ = node_of(0);
        const Resident given = memory_.resident();
        context.setting("footprint", memory_.size());
        context.setting("page", page_);
        context.setting("pages", given.words());
        if (p.pages == Pages::huge && given.huge < given.bytes)
            context.warn(
                joined("only ", given.huge, " of ", given.bytes, " bytes are on huge pages"));
    }

    void run() noexcept {
        from_ = start_;
        end_ = follow(from_, steps);
        start_ = end_;
    }
    Work work() const { return {.steps = steps}; }
    Check verify() const {
        if (end_ == nullptr) return not_followed();
        const auto wrong = [this](std::size_t i) {
            const Node& node = *node_of(i);
            const auto at = reinterpret_cast<std::uintptr_t>(node.next) -
                            reinterpret_cast<std::uintptr_t>(memory_.data());
            if (at / page_ >= count_ || node_of(at / page_) != node.next) return 1.0;
            return node.next->rank == (node.rank + 1) % count_ ? 0.0 : 1.0;
        };
        Check check = check_each(count_, wrong, 0, links_method);
        return check.passed ? check_end(from_->rank, steps, end_->rank, count_) : check;
    }
    void poison() { end_ = nullptr; }
    /// One link leads one page too far, so that one page of all is never visited.
    void spoil() {
        Node* const node = node_of(spoils_.next() % count_);
        broken_.push_back({.node = node, .next = node->next});
        node->next = node->next->next;
    }
    void rewind() {
        for (; !broken_.empty(); broken_.pop_back())
            broken_.back().node->next = broken_.back().next;
    }

    void metrics(const Metrics& metrics) const {
        std::array<double, 7> longer{};
        for (double& seconds : longer)
            seconds = seconds_of(start_) - seconds_of(side_by_side().data());
        std::ranges::nth_element(longer, longer.begin() + longer.size() / 2);
        metrics.add("translation_latency", std::max(longer[longer.size() / 2], 0.0));
    }

private:
    struct Link {
        Node* node;
        Node* next;
    };
    // 4 us where a step takes two nanoseconds: as in memory.latency.
    static constexpr std::uint64_t steps = 2048;

    static std::size_t page_of(const Params& p) {
        return p.pages == Pages::huge ? huge_page
                                      : static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    }
    /// Neighbouring pages use neighbouring lines: all at one offset would share a few sets of every cache.
    Node* node_of(std::size_t i) const {
        auto* const page = const_cast<std::byte*>(memory_.data()) + i * page_;
        return reinterpret_cast<Node*>(page) + i % (page_ / sizeof(Node));
    }
    std::span<Node> side_by_side() const {
        auto* const first = const_cast<std::byte*>(dense_.data());
        return {reinterpret_cast<Node*>(first), count_};
    }
    /// Seconds of a step along the chain from `node`, which has been followed to its end before.
    double seconds_of(const Node* node) const {
        const std::uint64_t all = (count_ + 7) / 8 * 8;
        node = follow(node, all);
        const std::uint64_t timed = std::max(all, steps);
        const Stopwatch watch;
        keep(follow(node, timed));
        return watch.seconds() / static_cast<double>(timed);
    }

    std::size_t count_;
    std::size_t page_; // bytes
    Memory memory_;
    Memory dense_;                // as many lines, side by side
    const Node* start_ = nullptr; // of the next walk
    const Node* from_ = nullptr;  // start of the last walk
    const Node* end_ = nullptr;   // of the last walk: the result
    Picks spoils_{chain_spoil_seed};
    std::vector<Link> broken_; // as they were
};

} // namespace

extern constinit const assay_benchmark tlb = define<Tlb>();

} // namespace assay::memory
