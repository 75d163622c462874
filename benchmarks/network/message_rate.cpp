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
            "Tagged messages (ucp_tag_send_nbx; in ofi fi_tsend), up to `window` outstanding on "
            "each side. The "
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
        : Stream{Wire::Use::tagged, params, params.window, context}, posted_{wire_},
          acknowledging_{wire_}, acknowledgement_{wire_, 2, Where::host} {
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
        if (follows_) wire_.send(acknowledgement_.piece(0, 1), all_there, acknowledging_);
        wire_.finish(acknowledging_);
        if (leads_) wire_.receive(acknowledgement_.piece(1, 1), all_there, acknowledging_);
        wire_.finish(acknowledging_);
    }
    Check verify() const {
        const auto messages = static_cast<std::size_t>(std::min(messages_, window_));
        return check(follows_, to_.held().first(words_ * messages));
    }
    void spoil() { to_.spoil(words_ / 2); }

private:
    static constexpr std::uint64_t message = 41;
    static constexpr std::uint64_t all_there = 42;

    /// The slot of this message.
    Piece slot(const Memory& memory, std::uint64_t number) const {
        return memory.piece(words_ * (number % window_), words_);
    }
    void send_one(std::uint64_t number) noexcept {
        wire_.send(slot(from_, number), message, under_way_);
    }
    void receive_one(std::uint64_t number) noexcept {
        wire_.receive(slot(to_, number), message, posted_);
    }
    void send_all() noexcept {
        for (std::uint64_t i = 0; i < messages_; ++i) {
            wait_for_room();
            send_one(i);
        }
    }
    void receive_all() noexcept {
        for (std::uint64_t begun = 0; begun < messages_ || posted_.count() > 0; wire_.progress())
            while (begun < messages_ && posted_.count() < window_) receive_one(begun++);
    }
    void exchange() noexcept {
        std::uint64_t sent = 0;
        std::uint64_t begun = 0;
        while (sent < messages_ || begun < messages_ || posted_.count() > 0) {
            while (begun < messages_ && posted_.count() < window_) receive_one(begun++);
            if (sent < messages_ && under_way_.count() < window_)
                send_one(sent++);
            else
                wire_.progress();
        }
    }

    Pending posted_; // what is to be received
    Pending acknowledging_;
    Memory acknowledgement_;
};

} // namespace

extern constinit const assay_benchmark message_rate = define<MessageRate>();

} // namespace assay::network
