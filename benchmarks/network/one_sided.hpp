// SPDX-License-Identifier: Apache-2.0
//
// Puts and gets: one rank moves data, the other one only drives UCX until it hears that all is there. What one of them
// is, its Operation says: info, gets (who holds the result?), call(wire, own, partner's, parameters).

#pragma once

#include "burst.hpp"
#include "collective/ranks.hpp"
#include "memory.hpp"
#include "pairs.hpp"
#include "way.hpp"
#include "wire.hpp"

#include <assay/define.hpp>
#include <assay/units.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace assay::network {

template <class Operation>
class OneSided {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        std::int64_t window = 0;
        Direction direction = Direction::one_way;
        Way transport = Way::any;
    };
    static constexpr Info info = Operation::info;
    static constexpr bool team = true;
    static constexpr bool all_devices = on_device;

    static constexpr auto axes = [] {
        using namespace assay::units;
        return std::tuple{
            pairs_axis<Params>(),
            integer<Params>("bytes", "size of a message", "B", &Params::bytes,
                            {8, 64, 512, 4_KiB, 32_KiB, 256_KiB, 2_MiB, 16_MiB, 64_MiB},
                            {8, 4_GiB}),
            window_axis<Params>(), direction_axis<Params>(), way_axis<Params>()};
    }();

    static Fit fit(const Params& params, const Machine& machine) {
        if (auto fit = fit_pairs(params.ranks, 2 * params.bytes, machine); !fit) return fit;
        return fit_way(params.transport, machine);
    }

    OneSided(const Params& params, Context& context)
        : pairs_{join_pairs(params.ranks, context) / 2},
          wire_{UCP_FEATURE_RMA, params.transport, context}, clock_{wire_},
          words_{static_cast<std::size_t>(params.bytes) / sizeof(Word)},
          window_{static_cast<std::uint64_t>(params.window)},
          two_way_{params.direction == Direction::two_way},
          acts_{two_way_ || wire_.pairing().leads}, heeds_{two_way_ || !wire_.pairing().leads},
          from_{wire_, words_}, to_{wire_, words_}, signals_{wire_, signal_words, Where::host} {
        fill(from_, wire_.rank());
        poison();
        done_.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        done_.cb.send = one_is_done;
        done_.user_data = this;
        wire_.part(); // nobody puts before all have made their memory
        set_length(context);
    }

    void run() noexcept {
        ++calls_;
        all_messages_ += messages_;
        if (acts_) {
            for (std::uint64_t i = 0; i < messages_; ++i) {
                while (under_way_ >= window_) wire_.progress();
                began(Operation::call(wire_.endpoint(), from_, to_, done_));
            }
            tell();
        }
        if (heeds_)
            while (heard() < calls_) wire_.progress();
    }
    WireClock& clock() { return clock_; }

    Work work() const {
        const double directions = two_way_ ? 2 : 1;
        return {.bytes = directions * pairs_ * count() * size(),
                .items = directions * pairs_ * count()};
    }
    Check verify() const {
        wire_.check();
        const bool receives = Operation::gets ? acts_ : heeds_;
        auto check = receives ? check_words(to_.held(), wire_.pairing().partner,
                                            "every word that arrived, exactly: random words that "
                                            "both ranks can make")
                              : check_words(from_.held(), wire_.rank(),
                                            "what was sent is as it was; the partner checks what "
                                            "arrived");
        return wire_.prove(std::move(check), static_cast<double>(all_messages_) * size());
    }
    void poison() { network::poison(to_, wire_.pairing().partner); }
    void spoil() { to_.spoil(to_.size() / 2); }

private:
    static constexpr std::size_t signal_words =
        16; ///< a line for what is heard, one for what is told

    static void one_is_done(void* request, ucs_status_t status, void* user) {
        auto* const self = static_cast<OneSided*>(user);
        --self->under_way_;
        self->wire_.note(status);
        ucp_request_free(request);
    }
    void began(ucs_status_ptr_t request) noexcept {
        if (UCS_PTR_IS_PTR(request))
            ++under_way_;
        else if (UCS_PTR_IS_ERR(request))
            wire_.note(UCS_PTR_STATUS(request));
    }
    /// That all is there: the number of this call, behind everything else, and there when this returns.
    void tell() noexcept {
        while (Operation::gets && under_way_ > 0) wire_.progress();
        wire_.note(ucp_worker_fence(wire_.worker()));
        Word& told = signals_[signal_words / 2];
        told = calls_;
        began(ucp_put_nbx(wire_.endpoint(), &told, sizeof told, signals_.remote(), signals_.key(),
                          &done_));
        wire_.flush();
        while (under_way_ > 0) wire_.progress();
    }
    Word heard() noexcept { return std::atomic_ref{signals_[0]}.load(std::memory_order_acquire); }

    double count() const { return static_cast<double>(messages_); }
    /// Bytes of a message.
    double size() const { return static_cast<double>(from_.bytes()); }

    void set_length(Context& context) {
        settle_length(window_, messages_, context,
                      [this] { return wire_.max(clock_.seconds(1, [this] { run(); })); });
        context.setting("message_bytes", size());
    }

    int pairs_;
    Wire wire_;
    WireClock clock_;
    std::size_t words_;
    std::uint64_t window_;
    bool two_way_;
    bool acts_;  ///< this rank puts or gets
    bool heeds_; ///< its partner does
    Memory from_;
    Memory to_;
    Memory signals_;
    ucp_request_param_t done_{};
    std::uint64_t messages_ = 0;     ///< of a call
    std::uint64_t all_messages_ = 0; ///< of all calls so far
    std::uint64_t under_way_ = 0;
    std::uint64_t calls_ = 0;
};

} // namespace assay::network
