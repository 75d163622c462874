// SPDX-License-Identifier: Apache-2.0

#include "device/place.hpp"
#include "device/properties.hpp"
#include "transfer/copies.hpp"
#include "transfer/host_words.hpp"
#include "transfer/slots.hpp"

#include <assay/define.hpp>

namespace assay::transfer {
namespace {

using device::Interval;

class SmallCopies : public device::OnDevice {
public:
    enum class Way : std::uint8_t { to_device, to_host, within };
    struct Params {
        Way direction = Way::to_device;
        HostMemory memory = HostMemory::pinned;
        Interval interval = Interval::completion;
        std::int64_t bytes = 0;
    };
    static constexpr Info info{
        .id = "transfer.latency",
        .question = "How long does a copy of a few bytes between the host and this device take?",
        .method =
            "cudaMemcpyAsync of random bytes on its own stream. completion: host time from the "
            "call until cudaStreamSynchronize returns. device: time of one of many queued copies "
            "by device events, launch overhead excluded. queue: host time of the call alone, while "
            "the stream is held. Copies rotate over 64 sources and destinations; every byte of the "
            "last 64 copies and of the gaps between them is checked.",
        .caveats = "completion is the time a program waits for the bytes; most of it is the "
                   "driver and the way to the device and back. Copies of up to 64 KiB of "
                   "pageable memory to the device travel within the command. How the host waits "
                   "(spinning, the default here, or blocking) matters.",
        .headline = "latency",
        .place = device::place_kind,
        .trial_bytes = 4_KiB,
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        choice("direction", "to_device, to_host, or within the device", &Params::direction,
               {Name{"to_device", Way::to_device}, Name{"to_host", Way::to_host},
                Name{"within", Way::within}}),
        memory_axis(&Params::memory),
        device::interval_axis(&Params::interval),
        integer("bytes", "size of a copy", "B", &Params::bytes, {4, 4_KiB}, {1, 1_MiB}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        const auto bytes =
            static_cast<std::int64_t>(slot_count * slot_stride(static_cast<std::size_t>(p.bytes)));
        if (Fit host = fits_on_host(2 * bytes, m); !host) return host;
        if (p.memory == HostMemory::pageable && p.direction == Way::within)
            return Fit::no("not applicable: copies within the device use no memory of the host");
        if (p.memory == HostMemory::pageable && p.interval != Interval::completion)
            return Fit::no("not applicable: the host stages copies of pageable memory, which "
                           "cannot be queued");
        return device::fits_device(2 * bytes);
    }
    SmallCopies(const Params& p, const Context& context)
        : OnDevice{{.interval = p.interval, .operations = copies_as_operations}}, way_{p.direction},
          bytes_{static_cast<std::size_t>(p.bytes)}, size_{slot_count * slot_stride(bytes_)},
          host_{way_ == Way::within ? 0 : size_ / sizeof(std::uint64_t), p.memory}, from_{size_},
          to_{size_} {
        std::vector<unsigned char> source(size_);
        fill_slots(source, bytes_, seed);
        device::to_device<unsigned char>(source, from_.data(), stream_);
        if (way_ == Way::to_device) std::ranges::copy(source, host_bytes());
        poison();
        context.setting("slots", slot_count);
        describe_nodes(device::attribute(cudaDevAttrHostNumaId, -1), context);
    }

    void run() {
        const std::size_t at = turns_.take() * slot_stride(bytes_);
        switch (way_) {
        case Way::to_device:
            return copy(host_bytes() + at, to_.data() + at, cudaMemcpyHostToDevice);
        case Way::to_host:
            return copy(from_.data() + at, host_bytes() + at, cudaMemcpyDeviceToHost);
        case Way::within:
            return copy(from_.data() + at, to_.data() + at, cudaMemcpyDeviceToDevice);
        }
    }
    Work work() const { return {.steps = 1}; }
    Check verify() const {
        if (way_ == Way::to_host)
            return check_slots({host_bytes(), size_}, bytes_, seed, turns_.full());
        return check_slots(device::to_host(to_, stream_), bytes_, seed, turns_.full());
    }
    void poison() {
        turns_ = {};
        if (way_ == Way::to_host) {
            std::fill_n(host_bytes(), size_, empty_byte);
            return;
        }
        device::set_bytes(to_, empty_byte, stream_);
    }
    /// One bit of a byte that was copied. The next copy mends it.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const std::size_t slot = pick % turns_.full();
        const std::size_t at = slot * slot_stride(bytes_) + (pick >> 20U) % bytes_;
        const auto bit = static_cast<unsigned char>(1U << (pick >> 61U));
        turns_.go_to(slot);
        if (way_ == Way::to_host) {
            host_bytes()[at] ^= bit;
            return;
        }
        device::change(to_.data() + at, stream_, [bit](unsigned char byte) { return byte ^ bit; });
    }

private:
    static constexpr std::uint64_t seed = 1000; // and one more for each slot

    unsigned char* host_bytes() const { return reinterpret_cast<unsigned char*>(host_.data()); }
    void copy(const unsigned char* from, unsigned char* to, cudaMemcpyKind kind) const {
        device::check(cudaMemcpyAsync(to, from, bytes_, kind, stream_.get()));
    }

    Way way_;
    std::size_t bytes_; // of a copy
    std::size_t size_;  // of all slots
    HostWords host_;
    device::Buffer<unsigned char> from_;
    device::Buffer<unsigned char> to_;
    Turns turns_;
    Picks spoils_{36};
};

} // namespace

extern constinit const assay_benchmark small_copies = define<SmallCopies>();

} // namespace assay::transfer
