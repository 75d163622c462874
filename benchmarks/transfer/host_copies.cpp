// SPDX-License-Identifier: Apache-2.0

#include "device/clock.hpp"
#include "device/properties.hpp"
#include "transfer/copies.hpp"
#include "transfer/copy_kernels.hpp"
#include "transfer/host_words.hpp"

#include <assay/define.hpp>

namespace assay::transfer {
namespace {

class HostCopies {
public:
    struct Params {
        Direction direction = Direction::to_device;
        HostMemory memory = HostMemory::pinned;
        Engine engine = Engine::copy_engine;
        std::int64_t bytes = 0;
    };
    static constexpr Info info{
        .id = "transfer.host",
        .question = "How fast is data copied between the host and this device?",
        .method =
            "Copies of random 64-bit words by cudaMemcpyAsync (copy_engine) or by a kernel "
            "that accesses host memory with 16-byte loads and stores, back to back on one "
            "stream, timed with device events, launch overhead excluded. both: both directions "
            "on two streams that start together, until both are done; the sum counts. "
            "to_device_loaded, to_host_loaded: only that direction counts while the other is "
            "kept busy for longer. Host memory is first touched by a thread bound near the "
            "device. Every word is compared with its recomputation from the random seed.",
        .caveats =
            "Each byte counts once per timed direction. Pageable memory is staged by a host "
            "thread, which is included, as is the launch of every copy. Short copies measure "
            "start-up: see transfer.latency. A device with one copy engine cannot use it both ways "
            "at once. In a virtual machine the NUMA node of the pages is unknown.",
        .headline = "bandwidth",
        .place = device::place_kind,
        .trial_bytes = 256_KiB,
        .bound = Bound::host_link,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        choice(
            "direction",
            "to_device, to_host, both at once (their sum), or one of them while the other is busy",
            &Params::direction,
            {Name{"to_device", Direction::to_device}, Name{"to_host", Direction::to_host},
             Name{"both", Direction::both}, Name{"to_device_loaded", Direction::to_device_loaded},
             Name{"to_host_loaded", Direction::to_host_loaded}}),
        memory_axis(&Params::memory),
        choice("engine", "copy engines of the device, or a kernel", &Params::engine,
               {{"copy_engine", Engine::copy_engine}, {"kernel", Engine::kernel}},
               {Engine::copy_engine}),
        integer("bytes", "size of a copy", "B", &Params::bytes, {256_MiB}, {4_KiB, 64_GiB}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        const std::int64_t ways = is_two_way(p.direction) ? 2 : 1;
        if (Fit host = fits_on_host(ways * p.bytes, m); !host) return host;
        if (const Fit fits = device::fits_device(ways * p.bytes); !fits) return fits;
        const std::string why = why_not(p.direction, p.memory, p.engine,
                                        device::attribute(cudaDevAttrPageableMemoryAccess, 0) != 0);
        return why.empty() ? Fit::yes() : Fit::no(why);
    }

    HostCopies(const Params& p, const Context& context)
        : direction_{p.direction}, engine_{p.engine}, words_{words_in(p.bytes)},
          device_{device::properties()}, clock_{stream_, options(p, lane_)},
          sent_{sends(direction_) ? words_ : 0, p.memory},
          received_{receives(direction_) ? words_ : 0, p.memory},
          arrived_{sends(direction_) ? words_ : 0}, stored_{receives(direction_) ? words_ : 0},
          blocks_{copy_blocks(words_, device_.multiprocessors, 1)} {
        sent_.make(sent_seed);
        if (receives(direction_)) make_words(stored_.data(), words_, stored_seed, stream_);
        describe(context);
    }

    device::EventClock& clock() { return clock_; }

    void run() {
        const device::Stream& second = lane_.stream();
        switch (direction_) {
        case Direction::to_device:
            return send(stream_);
        case Direction::to_host:
            return receive(stream_);
        case Direction::both:
            send(stream_);
            return receive(second);
        case Direction::to_device_loaded:
            for (int i = 0; i < background_copies; ++i) receive(second);
            return send(stream_);
        case Direction::to_host_loaded:
            for (int i = 0; i < background_copies; ++i) send(second);
            return receive(stream_);
        }
    }

    Work work() const {
        return {.bytes =
                    counted_bytes(direction_, static_cast<double>(words_ * sizeof(std::uint64_t)))};
    }

    Check verify() const {
        if (sends(direction_)) {
            Check check = check_words(arrived_.data(), words_, sent_seed, stream_);
            if (!check.passed || !receives(direction_)) return check;
        }
        return received_.check(stored_seed);
    }

    void poison() {
        if (sends(direction_)) device::set_bytes(arrived_, 0xff, stream_);
        received_.poison();
    }

    /// One bit of what arrived, on either side.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const bool on_device = sends(direction_) && (!receives(direction_) || pick % 2 == 0);
        if (on_device)
            device::flip_bit(arrived_, pick, stream_);
        else
            received_.flip_bit(pick);
    }

private:
    static constexpr std::uint64_t sent_seed = 31;
    static constexpr std::uint64_t stored_seed = 32;

    static device::EventClock::Options options(const Params& p, const device::Lane& lane) {
        device::EventClock::Options options;
        // A copy of pageable memory waits for the device, which must not wait for the host then.
        if (p.memory == HostMemory::pageable) options.launching = device::Launching::plain;
        options.operations = copies_as_operations;
        if (!is_two_way(p.direction)) return options;
        options.lane = &lane;
        if (is_loaded(p.direction)) {
            options.operations *= background_copies;
            options.beside = device::Beside::background;
        }
        return options;
    }
    void describe(const Context& context) const {
        context.setting("bytes", words_ * sizeof(std::uint64_t));
        context.tell({.directions = direction_ == Direction::both ? 2 : 1});
        context.setting("copy_engines", device::attribute(cudaDevAttrAsyncEngineCount, 0));
        if (engine_ == Engine::kernel) {
            context.setting("blocks", blocks_);
            context.setting("block_threads", copy_threads);
        }
        describe_nodes(device::attribute(cudaDevAttrHostNumaId, -1), context);
    }
    void copy(const std::uint64_t* from, std::uint64_t* to, cudaMemcpyKind kind,
              const device::Stream& stream) const {
        if (engine_ == Engine::kernel) return copy_by_kernel(from, to, words_, blocks_, stream);
        device::check(
            cudaMemcpyAsync(to, from, words_ * sizeof(std::uint64_t), kind, stream.get()));
    }
    void send(const device::Stream& stream) const {
        copy(sent_.data(), arrived_.data(), cudaMemcpyHostToDevice, stream);
    }
    void receive(const device::Stream& stream) const {
        copy(stored_.data(), received_.data(), cudaMemcpyDeviceToHost, stream);
    }

    Direction direction_;
    Engine engine_;
    std::size_t words_; // of each copy
    device::Properties device_;
    device::Stream stream_;
    device::Lane lane_;
    device::EventClock clock_;
    HostWords sent_;                        // on the host ...
    HostWords received_;                    // on the host
    device::Buffer<std::uint64_t> arrived_; // ... and where they come to
    device::Buffer<std::uint64_t> stored_;  // what received_ gets
    unsigned blocks_;
    Picks spoils_{33};
};

} // namespace

extern constinit const assay_benchmark host_copies = define<HostCopies>();

} // namespace assay::transfer
