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
    /// Of all pairs and directions.
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

    Stream(std::uint64_t features, const Params& p, std::int64_t messages_held, Context& context)
        : pairs_{join_pairs(p.ranks, context) / 2}, wire_{features, p.transport, context},
          clock_{wire_}, words_{static_cast<std::size_t>(p.bytes) / sizeof(Word)},
          window_{static_cast<std::uint64_t>(p.window)},
          two_way_{p.direction == Direction::two_way}, leads_{two_way_ || wire_.pairing().leads},
          follows_{two_way_ || !wire_.pairing().leads},
          from_{wire_, words_ * static_cast<std::size_t>(messages_held)}, to_{wire_, from_.size()} {
        fill(from_, wire_.rank());
        poison();
        context.tell({.directions = two_way_ ? 2 : 1});
        done_.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        done_.cb.send = one_is_done;
        done_.user_data = this;
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
    void began(ucs_status_ptr_t request) noexcept {
        if (UCS_PTR_IS_PTR(request))
            ++under_way_;
        else if (UCS_PTR_IS_ERR(request))
            wire_.note(UCS_PTR_STATUS(request));
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
    ucp_request_param_t done_{};
    std::uint64_t messages_ = 0;     // of a call
    std::uint64_t all_messages_ = 0; // of all calls so far
    std::uint64_t under_way_ = 0;

private:
    static void one_is_done(void* request, ucs_status_t status, void* user) {
        auto* const self = static_cast<Stream*>(user);
        --self->under_way_;
        self->wire_.note(status);
        ucp_request_free(request);
    }
};

} // namespace assay::network
