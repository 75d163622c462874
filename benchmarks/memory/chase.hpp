// SPDX-License-Identifier: Apache-2.0
//
// A walk along a chain: what memory.latency times, and what memory.loaded_latency times while others
// keep the memory busy.

#pragma once

#include "chain.hpp"
#include "pages.hpp"

#include <functional>

namespace assay::memory {

class Chase {
public:
    /// `bytes` of chain, touched first by the calling thread, which is to follow it. `place` may bind
    /// the memory to a node before that.
    Chase(std::size_t bytes, Pages pages, const std::function<void(Memory&)>& place = {})
        : count_{bytes / sizeof(Node)}, memory_{count_ * sizeof(Node), pages} {
        if (place) place(memory_);
        memory_.touch(0, memory_.size());
        link(nodes());
        start_ = end_ = nodes().data();
    }

    /// From where the last walk ended; a multiple of 8 steps.
    void walk(std::uint64_t steps) noexcept {
        from_ = start_;
        steps_ = steps;
        end_ = follow(from_, steps);
        start_ = end_;
    }
    /// Did the last walk end where it should? The chain itself is not looked at.
    bool arrived() const noexcept {
        return end_ != nullptr && end_->rank == (from_->rank + steps_) % count_;
    }
    Check verify() const {
        if (end_ == nullptr) return not_followed();
        Check check = check_chain(nodes());
        if (!check.passed) return check;
        return check_end(from_->rank, steps_, end_->rank, count_);
    }
    void poison() { end_ = nullptr; }
    /// One link leads one node too far, so that one line of all is never visited.
    void spoil() {
        Node& node = nodes()[spoils_.next() % count_];
        broken_.push_back({.node = &node, .next = node.next});
        node.next = node.next->next;
    }
    void mend() {
        if (broken_.empty()) return;
        for (; !broken_.empty(); broken_.pop_back())
            broken_.back().node->next = broken_.back().next;
        freshen();
    }
    const Memory& memory() const { return memory_; }
    /// Records what the parameters resolved to.
    void describe(const Context& context, Pages wanted) const {
        const Resident given = memory_.resident();
        context.setting("footprint", memory_.size());
        context.setting("pages", given.words());
        if (wanted == Pages::huge && given.huge < given.bytes)
            context.warn(
                joined("only ", given.huge, " of ", given.bytes, " bytes are on huge pages"));
    }

private:
    struct Link {
        Node* node;
        Node* next;
    };

    /// Checking a chain leaves it in the caches of all cores. Read in order, which is twenty times as fast
    /// as following it, what fits into the caches of this core is there again before the window begins.
    void freshen() const {
        std::uint64_t sum = 0;
        for (int pass = 0; pass < 2; ++pass) {
            for (const Node& node : nodes()) sum += node.rank;
            keep(sum);
        }
    }
    std::span<Node> nodes() { return {reinterpret_cast<Node*>(memory_.data()), count_}; }
    std::span<const Node> nodes() const {
        return {reinterpret_cast<const Node*>(memory_.data()), count_};
    }

    std::size_t count_;
    Memory memory_;
    std::uint64_t steps_ = 0;     // of the last walk
    const Node* start_ = nullptr; // of the next walk
    const Node* from_ = nullptr;  // start of the last walk
    const Node* end_ = nullptr;   // of the last walk: the result
    Picks spoils_{chain_spoil_seed};
    std::vector<Link> broken_; // as they were
};

template <class Params>
consteval auto pages_axis(Pages Params::* field) {
    return choice("pages", "huge (2 MiB) or small (the usual size, 4 KiB on most)", field,
                  {{"huge", Pages::huge}, {"small", Pages::small}}, {Pages::huge});
}

/// Is there room for so many bytes on such pages?
inline Fit fits_memory(std::int64_t bytes, Pages pages, const Machine& m) {
    if (Fit room = host::fits_memory(host::with_page_tables(bytes), m); !room) return room;
    return Fit::needs(pages == Pages::small || gives_huge_pages(), huge_pages_words);
}

} // namespace assay::memory
