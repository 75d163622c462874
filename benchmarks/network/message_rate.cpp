// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include <assay/define.hpp>

namespace assay::network {
namespace {

using namespace assay::units;

class MessageRate : public Stream {
public:
    static constexpr Info info{
        .id = "network.message_rate",
        .version = 1,
        .question = "How many small messages per second do two processes exchange?",
        .method =
            "ucp_tag_send_nbx and ucp_tag_recv_nbx, up to `window` outstanding on each side. The "
            "receiver acknowledges once per call; a call is long enough to make that negligible "
            "(as in network.put). Messages of all pairs and directions count together. Every slot "
            "of the window has its own data, and the receiver checks all.",
        .caveats =
            "The sender may run ahead: unexpected messages are copied once more. One thread drives "
            "each side; a network card does more with several pairs (ranks=4 and more).",
        .headline = "item_rate",
        .place = place_of_data,
        .noise = Noise::messages,
        .items = "messages",
    };

    static constexpr std::tuple axes{
        pairs_axis<Params>(),
        integer("bytes", "size of a message", "B", &Params::bytes, {8, 64, 512}, {8, 64_KiB}),
        window_axis<Params>(),
        direction_axis<Params>(),
        way_axis<Params>(),
    };

    static Fit fit(const Params& params, const Machine& machine) {
        return fits(params, params.window, machine);
    }

    MessageRate(const Params& params, Context& context)
        : Stream{UCP_FEATURE_TAG, params, params.window, context} {
        received_ = done_;
        received_.cb.recv = one_is_received;
        received_.user_data = this;
        set_length(context, [this] { run(); });
    }

    void run() noexcept {
        all_messages_ += messages_;
        if (two_way_)
            exchange();
        else if (leads_)
            send_all();
        else
            receive_all();
        if (follows_) wire_.wait(answer());
        if (leads_) wire_.wait(hear());
    }
    Check verify() const {
        const auto messages = static_cast<std::size_t>(std::min(messages_, window_));
        return check(follows_, to_.held().first(words_ * messages));
    }
    void spoil() { to_.spoil(words_ / 2); }

private:
    static constexpr ucp_tag_t message = 41;
    static constexpr ucp_tag_t all_there = 42;

    static void one_is_received(void* request, ucs_status_t status,
                                const ucp_tag_recv_info_t* /*info*/, void* user) {
        auto* const self = static_cast<MessageRate*>(user);
        ++self->arrived_;
        self->wire_.note(status);
        ucp_request_free(request);
    }

    void send_one(std::uint64_t number) noexcept {
        const Word* data = from_.data() + words_ * (number % window_);
        began(ucp_tag_send_nbx(wire_.endpoint(), data, words_ * sizeof(Word), message, &done_));
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

    ucp_request_param_t plain_{};
    ucp_request_param_t received_{};
    std::uint64_t arrived_ = 0;
    Word answer_ = 0;
    Word heard_ = 0;
};

} // namespace

extern constinit const assay_benchmark message_rate = define<MessageRate>();

} // namespace assay::network
