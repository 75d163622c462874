// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"
#include "pairs.hpp"
#include "tail.hpp"
#include "way.hpp"
#include "wire.hpp"

#include <assay/define.hpp>

#include <atomic>

namespace assay::network {
namespace {

using namespace assay::units;

enum class Operation : std::uint8_t { tag, put };

class PingPong {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        Operation operation = Operation::tag;
        Way transport = Way::any;
    };
    static constexpr Info info{
        .id = "network.ping_pong",
        .version = 1,
        .question = "What is the message latency between two processes?",
        .method =
            "Round trips back to back; latency is half of one. tag: ucp_tag_send_nbx (in ofi "
            "fi_tsend) into a posted receive. put: ucp_put_nbx (fi_writemsg) into the memory of "
            "the partner, which polls its last word. The mean has no clock reads inside; after "
            "every batch some round trips of the first pair are timed singly for the "
            "percentiles. Both sides check every word.",
        .caveats =
            "The processes poll on dedicated cores: a program that sleeps or computes while "
            "waiting sees more. put: with longer messages the last word may arrive before others.",
        .headline = "latency",
        .place = place_of_data,
        .noise = Noise::messages,
    };
    static constexpr bool team = true;
    static constexpr bool all_devices = on_device;

    static constexpr std::tuple axes{
        pairs_axis<Params>(),
        integer("bytes", "size of a message", "B", &Params::bytes,
                {8, 64, 512, 4_KiB, 32_KiB, 256_KiB, 2_MiB}, {8, 1_GiB}),
        choice("operation", "tagged messages, or puts that the partner watches for",
               &Params::operation, {{"tag", Operation::tag}, {"put", Operation::put}},
               {Operation::tag}),
        tag_way_axis<Params>(),
    };

    static Fit fit(const Params& params, const Machine& machine) {
        if (auto fit = fit_pairs(params.ranks, 2 * params.bytes, machine); !fit) return fit;
        if (params.operation == Operation::put && params.transport == Way::cma)
            return Fit::no("not applicable: UCX puts through mapped memory, not through cma");
        if (on_device && params.operation == Operation::put)
            return Fit::no("not applicable: a host cannot poll for a put into device memory");
        return fit_way(params.transport, machine);
    }

    PingPong(const Params& params, Context& context)
        : pairs_{join_pairs(params.ranks, context) / 2},
          wire_{params.operation == Operation::tag ? Wire::Use::tagged : Wire::Use::one_sided,
                params.transport, context},
          clock_{wire_, tail_}, puts_{params.operation == Operation::put},
          leads_{wire_.pairing().leads},
          from_{wire_, static_cast<std::size_t>(params.bytes) / sizeof(Word)},
          to_{wire_, from_.size()}, sending_{wire_}, receiving_{wire_} {
        fill(from_, wire_.rank());
        poison();
        wire_.part(); // nobody puts before all have made their memory
        context.setting("message_bytes", from_.bytes());
    }

    void run() noexcept {
        ++calls_;
        if (puts_)
            put_and_watch();
        else
            send_and_receive();
    }

    class Clock {
    public:
        static constexpr double resolution = WireClock::resolution;
        Clock(Wire& wire, Tail& tail) : wire_{wire}, tail_{tail} {}

        template <class Run>
        double seconds(std::uint64_t calls, Run&& run) {
            const double seconds = timed([&] {
                for (std::uint64_t i = 0; i < calls; ++i) run();
            });
            if (calls == 1) tail_.add(seconds);
            // Some 3% of a batch that lasts as long as batches do.
            const std::uint64_t more = std::min<std::uint64_t>(calls / 32, 32);
            for (std::uint64_t i = 0; i < more; ++i) tail_.add(timed(run));
            wire_.flush();
            wire_.part();
            return seconds;
        }

    private:
        template <class Run>
        static double timed(Run&& run) {
            using Steady = std::chrono::steady_clock;
            const auto start = Steady::now();
            run();
            return std::chrono::duration<double>(Steady::now() - start).count();
        }

        Wire& wire_;
        Tail& tail_;
    };
    Clock& clock() { return clock_; }

    Work work() const {
        // Both ways, of all pairs; a round trip is two steps.
        return {.bytes = 2.0 * pairs_ * static_cast<double>(from_.bytes()), .steps = 2};
    }
    Check verify() const {
        wire_.check();
        const std::size_t last = to_.size() - 1;
        const auto held = to_.held();
        auto check = check_each(
            to_.size(),
            [&](std::size_t i) {
                const Word wanted =
                    puts_ && i == last ? calls_ : word_of(wire_.pairing().partner, i);
                return held[i] == wanted ? 0.0 : 1.0;
            },
            0,
            "every received word, exactly: random words that both ranks can compute, and the "
            "number of the message where it was put");
        return wire_.prove(std::move(check),
                           2 * static_cast<double>(calls_) * static_cast<double>(from_.bytes()));
    }
    void poison() { network::poison(to_, wire_.pairing().partner); }
    void spoil() { to_.spoil(to_.size() / 2); }

    void metrics(const Metrics& metrics) const {
        const auto add = [&](const char* name, double share) {
            if (const auto seconds = tail_.at(share)) metrics.add(name, *seconds / 2);
        };
        add("latency_p50", 0.5);
        add("latency_p99", 0.99);
        add("latency_p999", 0.999);
    }

private:
    static constexpr std::uint64_t tag = 31;

    void send_and_receive() noexcept {
        wire_.receive(to_.all(), tag, receiving_);
        if (!leads_) wire_.finish(receiving_);
        wire_.send(from_.all(), tag, sending_);
        wire_.finish(sending_);
        if (leads_) wire_.finish(receiving_);
    }

    /// The buffer is free again when the partner has answered.
    void put() noexcept {
        from_[from_.size() - 1] = calls_;
        wire_.put(from_.all(), to_.all(), sending_);
    }
    void watch() noexcept {
        const std::atomic_ref<Word> last{to_[to_.size() - 1]};
        while (last.load(std::memory_order_acquire) != calls_) wire_.progress();
    }
    void put_and_watch() noexcept {
        if (leads_) put();
        watch();
        if (!leads_) put();
    }

    int pairs_;
    Wire wire_;
    Tail tail_;
    Clock clock_;
    bool puts_;
    bool leads_;
    Memory from_;
    Memory to_;
    Pending sending_;
    Pending receiving_;
    std::uint64_t calls_ = 0;
};

} // namespace

extern constinit const assay_benchmark ping_pong = define<PingPong>();

} // namespace assay::network
