// SPDX-License-Identifier: Apache-2.0

#include "chain.hpp"
#include "pages.hpp"

#include <assay/define.hpp>
#include <assay/units.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace assay::memory {
namespace {

using namespace units;

class Latency {
public:
    struct Params {
        Symbolic footprint = Symbol::beyond_cache;
        Pages pages = Pages::huge;
    };
    static constexpr Info info{
        .id = "memory.latency",
        .question = "How long does one core wait for one load, by how much data it works on?",
        .method =
            "A chain of pointers, one per cache line, in random order through the whole "
            "footprint: no address is known before the load before it has ended. A call takes "
            "2048 steps from where the last one stopped; the latency is time by steps. Checked: "
            "the chain visits every line exactly once, and the call ended at the node 2048 "
            "further along.",
        .caveats =
            "What a dependent load costs, address translation included: on small pages a large "
            "footprint misses the translation buffers with nearly every step, on huge pages much "
            "later. Footprints that fit into a cache measure that cache. Beyond the caches some "
            "lines are still found in them: with beyond_cache up to a quarter. What the system "
            "really gave is the setting `pages`. Other cores are idle; see memory.loaded_latency.",
        .headline = "latency",
    };
    static constexpr std::tuple axes{
        symbolic(
            "footprint", "bytes that the chain runs through", "B", &Params::footprint,
            {Symbolic{16_KiB}, Symbolic{256_KiB}, Symbolic{8_MiB}, Symbolic{Symbol::beyond_cache}},
            {1_KiB, 16_TiB}, {Symbol::beyond_cache}),
        choice("pages", "huge (2 MiB) or small (the usual size, 4 KiB on most)", &Params::pages,
               {Name{"huge", Pages::huge}, Name{"small", Pages::small}}, {Pages::huge}),
    };
    /// rewind() only mends what spoil() broke.
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& p, const Machine& m) {
        const std::int64_t bytes = m.bytes(p.footprint);
        const std::int64_t available = m.memory_available();
        // A sixteenth more for the page tables and everything else that is alive.
        if (available != 0 && bytes + bytes / 16 > available)
            return Fit::no("needs " + std::to_string(bytes) + " bytes of free memory, there are " +
                           std::to_string(available));
        return Fit::needs(p.pages == Pages::small || gives_huge_pages(), huge_pages_words);
    }

    Latency(const Params& p, const Context& context)
        : count_{static_cast<std::size_t>(context.machine().bytes(p.footprint)) / sizeof(Node)},
          memory_{count_ * sizeof(Node), p.pages} {
        memory_.touch(0, memory_.size()); // by this thread, which follows the chain
        link(nodes());
        start_ = end_ = nodes().data();
        const Resident given = memory_.resident();
        context.setting("footprint", static_cast<double>(memory_.size()));
        context.setting("pages", given.words());
        if (p.pages == Pages::huge && given.huge == 0)
            context.warn("the system gave no huge pages; see /sys/kernel/mm/transparent_hugepage");
    }

    void run() noexcept {
        from_ = start_;
        end_ = follow(from_, steps);
        start_ = end_;
    }
    Work work() const { return {.steps = steps}; }

    Check verify() const {
        if (end_ == nullptr) return check_value(1, 0, method, "the chain was not followed");
        Check check = check_chain(nodes());
        if (!check.passed) return check;
        const std::uint64_t expected = (from_->rank + steps) % count_;
        return check_value(end_->rank == expected ? 0 : 1, 0, method,
                           "the walk ended at node " + std::to_string(end_->rank) +
                               " of the chain, expected " + std::to_string(expected));
    }
    void poison() { end_ = nullptr; }
    /// One link leads one node too far, so that one line of all is never visited.
    void spoil() {
        Node& node = nodes()[random_bits(spoil_seed, spoils_++) % count_];
        broken_.push_back({.node = &node, .next = node.next});
        node.next = node.next->next;
    }
    void rewind() {
        if (broken_.empty()) return;
        for (; !broken_.empty(); broken_.pop_back())
            broken_.back().node->next = broken_.back().next;
        freshen();
    }

private:
    // 2 us where a step takes a nanosecond, five hundred times what calling and leaving the loop
    // costs; 0.4 ms where it takes 200.
    static constexpr std::uint64_t steps = 2048;
    static constexpr std::uint64_t spoil_seed = 8;
    static constexpr const char* method =
        "every link of the chain, and the place where the walk ended";

    /// Checking a chain leaves it in the caches of all cores. Read in order, which is twenty times as fast
    /// as following it, what fits into the caches of this core is there again before the window begins.
    void freshen() const {
        std::uint64_t sum = 0;
        for (int pass = 0; pass < 2; ++pass) {
            for (const Node& node : nodes()) sum += node.rank;
            keep(sum);
        }
    }

    struct Link {
        Node* node;
        Node* next;
    };

    std::span<Node> nodes() { return {reinterpret_cast<Node*>(memory_.data()), count_}; }
    std::span<const Node> nodes() const {
        return {reinterpret_cast<const Node*>(memory_.data()), count_};
    }

    std::size_t count_;
    Memory memory_;
    const Node* start_ = nullptr; // of the next walk
    const Node* from_ = nullptr;  // start of the last walk
    const Node* end_ = nullptr;   // of the last walk: the result
    std::uint64_t spoils_ = 0;
    std::vector<Link> broken_; // as they were
};

} // namespace

extern constinit const assay_benchmark latency;
constinit const assay_benchmark latency = define<Latency>();

} // namespace assay::memory
