// SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks of streams of messages share: parameters, buffers, the length of a call, work and check.

#pragma once

#include "burst.hpp"
#include "memory.hpp"
#include "pairs.hpp"
#include "way.hpp"
#include "wire.hpp"

#include <assay/define.hpp>

#include <span>

namespace assay::network {

class Stream {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        std::int64_t window = 0;
        Direction direction = Direction::one_way;
        Way transport = Way::any;
    };
    static constexpr bool team = true;
    static constexpr bool all_devices = on_device;

    WireClock& clock() { return clock_; }
    /// Work of all pairs and directions.
    Work work() const {
        const double all = (two_way_ ? 2 : 1) * pairs_ * static_cast<double>(messages_);
        return {.bytes = all * size(), .items = all};
    }
    void poison() { network::poison(to_, wire_.pairing().partner); }

protected:
    static Fit fits(const Params& p, std::int64_t messages_held, const Machine& machine) {
        if (auto fit = fit_pairs(p.ranks, 2 * p.bytes * messages_held, machine); !fit) return fit;
        return fit_way(p.transport, machine);
    }

    Stream(Wire::Use use, const Params& p, std::int64_t messages_held, Context& context)
        : pairs_{join_pairs(p.ranks, context) / 2}, wire_{use, p.transport, context}, clock_{wire_},
          words_{static_cast<std::size_t>(p.bytes) / sizeof(Word)},
          window_{static_cast<std::uint64_t>(p.window)},
          two_way_{p.direction == Direction::two_way}, leads_{two_way_ || wire_.pairing().leads},
          follows_{two_way_ || !wire_.pairing().leads},
          from_{wire_, words_ * static_cast<std::size_t>(messages_held)}, to_{wire_, from_.size()},
          under_way_{wire_} {
        fill(from_, wire_.rank());
        poison();
        context.tell({.directions = two_way_ ? 2 : 1});
    }

    /// How many messages a call has; `run()` is one call.
    template <class Run>
    void set_length(Context& context, Run&& run) {
        const auto burst = find_burst(window_, [&](std::uint64_t count) {
            messages_ = count;
            return wire_.max(clock_.seconds(1, run));
        });
        messages_ = burst.messages;
        context.setting("messages_per_call", messages_);
        context.setting("seconds_to_end_a_call", burst.end);
        context.setting("message_bytes", size());
    }
    /// Until another message may begin.
    void wait_for_room() noexcept {
        while (under_way_.count() >= window_) wire_.progress();
    }
    /// `arrived`: what this rank has got, if it gets anything.
    Check check(bool receives, std::span<const Word> arrived) const {
        wire_.check();
        auto check =
            receives ? check_words(
                           arrived, wire_.pairing().partner,
                           "every received word, of the last window of messages, exactly: random "
                           "words that both ranks can compute")
                     : check_words(from_.held(), wire_.rank(),
                                   "the send buffer is unchanged; the partner checks what arrived");
        return wire_.prove(std::move(check), static_cast<double>(all_messages_) * size());
    }
    /// Bytes of a message.
    double size() const { return static_cast<double>(words_ * sizeof(Word)); }

    int pairs_;
    Wire wire_;
    WireClock clock_;
    std::size_t words_; // of a message
    std::uint64_t window_;
    bool two_way_;
    bool leads_;   // this rank sends, puts or gets
    bool follows_; // its partner does
    Memory from_;
    Memory to_;
    Pending under_way_;              // what this rank sends, puts or gets
    std::uint64_t messages_ = 0;     // of a call
    std::uint64_t all_messages_ = 0; // of all calls so far
};

} // namespace assay::network
