// SPDX-License-Identifier: Apache-2.0
#include "burst.hpp"
#include "memory.hpp"
#include "pairs.hpp"
#include "way.hpp"
#include "wire.hpp"

#include <assay/define.hpp>
#include <assay/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace assay::network {
namespace {

using namespace assay::units;

class MessageRate {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        std::int64_t window = 0;
        Direction direction = Direction::one_way;
        Way transport = Way::any;
    };
    static constexpr Info info{
        .id = "network.message_rate",
        .version = 1,
        .question = "How many small messages per second do two processes exchange?",
        .method =
            "ucp_tag_send_nbx and ucp_tag_recv_nbx, up to `window` of them under way on each "
            "side; the receiver answers once when all messages of a call are there, and a call is "
            "so long that the answer counts for little (as of network.put). Messages of all pairs "
            "and directions together. Every place of the window has words of its own, and the "
            "receiver checks "
            "all.",
        .caveats =
            "The sender may run ahead of the receiver: messages that nobody waits for yet are "
            "copied once more. One thread drives each side; a network card does more with several "
            "pairs (ranks=4 and more).",
        .headline = "item_rate",
        .place = place_of_data,
    };
    static constexpr bool team = true;
    static constexpr bool all_devices = on_device;

    static constexpr std::tuple axes{
        pairs_axis<Params>(),
        integer<Params>("bytes", "size of a message", "B", &Params::bytes, {8, 64, 512},
                        {8, 64_KiB}),
        window_axis<Params>(),
        direction_axis<Params>(),
        way_axis<Params>(),
    };

    static Fit fit(const Params& params, const Machine& machine) {
        if (auto fit = fit_pairs(params.ranks, 2 * params.bytes * params.window, machine); !fit)
            return fit;
        return fit_way(params.transport, machine);
    }

    MessageRate(const Params& params, Context& context)
        : pairs_{join_pairs(params.ranks, context) / 2},
          wire_{UCP_FEATURE_TAG, params.transport, context}, clock_{wire_},
          words_{static_cast<std::size_t>(params.bytes) / sizeof(Word)},
          window_{static_cast<std::uint64_t>(params.window)},
          two_way_{params.direction == Direction::two_way},
          sends_{two_way_ || wire_.pairing().leads}, receives_{two_way_ || !wire_.pairing().leads},
          from_{wire_, words_ * window_}, to_{wire_, words_ * window_} {
        fill(from_, wire_.rank());
        poison();
        sent_.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        sent_.cb.send = one_is_sent;
        sent_.user_data = this;
        received_ = sent_;
        received_.cb.recv = one_is_received;
        set_length(context);
    }

    void run() noexcept {
        all_messages_ += messages_;
        if (two_way_)
            exchange();
        else if (sends_)
            send_all();
        else
            receive_all();
        if (receives_) wire_.wait(answer());
        if (sends_) wire_.wait(hear());
    }
    WireClock& clock() { return clock_; }

    Work work() const {
        const double all = (two_way_ ? 2 : 1) * pairs_ * count();
        return {.bytes = all * size(), .items = all};
    }
    Check verify() const {
        wire_.check();
        const auto arrived =
            to_.held().first(words_ * static_cast<std::size_t>(std::min(messages_, window_)));
        auto check = receives_ ? check_words(arrived, wire_.pairing().partner,
                                             "every word of the last window of messages, exactly: "
                                             "random words that both ranks can make")
                               : check_words(from_.held(), wire_.rank(),
                                             "what was sent is as it was; the partner checks what "
                                             "arrived");
        return wire_.prove(std::move(check), static_cast<double>(all_messages_) * size());
    }
    void poison() { network::poison(to_, wire_.pairing().partner); }
    void spoil() { to_.spoil(words_ / 2); }

private:
    static constexpr ucp_tag_t message = 41;
    static constexpr ucp_tag_t all_there = 42;

    static void one_is_sent(void* request, ucs_status_t status, void* user) {
        auto* const self = static_cast<MessageRate*>(user);
        --self->under_way_;
        self->wire_.note(status);
        ucp_request_free(request);
    }
    static void one_is_received(void* request, ucs_status_t status,
                                const ucp_tag_recv_info_t* /*info*/, void* user) {
        auto* const self = static_cast<MessageRate*>(user);
        ++self->arrived_;
        self->wire_.note(status);
        ucp_request_free(request);
    }

    void send_one(std::uint64_t number) noexcept {
        const Word* data = from_.data() + words_ * (number % window_);
        auto* const request =
            ucp_tag_send_nbx(wire_.endpoint(), data, words_ * sizeof(Word), message, &sent_);
        if (UCS_PTR_IS_PTR(request))
            ++under_way_;
        else if (UCS_PTR_IS_ERR(request))
            wire_.note(UCS_PTR_STATUS(request));
    }
    void receive_one(std::uint64_t number) noexcept {
        Word* data = to_.data() + words_ * (number % window_);
        auto* const request = ucp_tag_recv_nbx(wire_.worker(), data, words_ * sizeof(Word), message,
                                               ~ucp_tag_t{0}, &received_);
        if (UCS_PTR_IS_PTR(request)) return;
        if (UCS_PTR_IS_ERR(request)) wire_.note(UCS_PTR_STATUS(request));
        ++arrived_;
    }
    void send_all() noexcept {
        for (std::uint64_t i = 0; i < messages_; ++i) {
            while (under_way_ >= window_) wire_.progress();
            send_one(i);
        }
    }
    void receive_all() noexcept {
        arrived_ = 0;
        for (std::uint64_t posted = 0; arrived_ < messages_; wire_.progress())
            while (posted < messages_ && posted - arrived_ < window_) receive_one(posted++);
    }
    void exchange() noexcept {
        arrived_ = 0;
        std::uint64_t sent = 0;
        std::uint64_t posted = 0;
        while (sent < messages_ || arrived_ < messages_) {
            while (posted < messages_ && posted - arrived_ < window_) receive_one(posted++);
            if (sent < messages_ && under_way_ < window_)
                send_one(sent++);
            else
                wire_.progress();
        }
    }
    ucs_status_ptr_t answer() noexcept {
        return ucp_tag_send_nbx(wire_.endpoint(), &answer_, sizeof answer_, all_there, &plain_);
    }
    ucs_status_ptr_t hear() noexcept {
        return ucp_tag_recv_nbx(wire_.worker(), &heard_, sizeof heard_, all_there, ~ucp_tag_t{0},
                                &plain_);
    }

    double count() const { return static_cast<double>(messages_); }
    double size() const { return static_cast<double>(words_ * sizeof(Word)); }

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
    bool sends_;
    bool receives_;
    Memory from_;
    Memory to_;
    ucp_request_param_t plain_{};
    ucp_request_param_t sent_{};
    ucp_request_param_t received_{};
    std::uint64_t messages_ = 0;     ///< of a call
    std::uint64_t all_messages_ = 0; ///< of all calls so far
    std::uint64_t under_way_ = 0;
    std::uint64_t arrived_ = 0;
    Word answer_ = 0;
    Word heard_ = 0;
};

} // namespace

extern constinit const assay_benchmark message_rate = define<MessageRate>();

} // namespace assay::network
