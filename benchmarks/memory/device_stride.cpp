// SPDX-License-Identifier: Apache-2.0

#include "device/clock.hpp"
#include "device/properties.hpp"
#include "memory/device_access.hpp"

#include <assay/define.hpp>
#include <assay/random.hpp>
#include <assay/units.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace assay::memory {
namespace {

using namespace units;

class DeviceStride {
public:
    struct Params {
        std::int64_t stride = 1;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.stride",
        .question =
            "What is left of this device's bandwidth when neighbouring threads read words that "
            "are apart?",
        .method =
            "All multiprocessors read words of 4 bytes; neighbouring threads take words that are "
            "`stride` words apart. Beyond a sector of 32 bytes, several passes a sector apart "
            "touch "
            "every sector once, so that every stride moves the same memory. Words are random; the "
            "sum of every thread is compared on the device with that of the words made again.",
        .caveats =
            "Counts the bytes that threads ask for: with stride 8 and more, 4 of the 32 bytes of "
            "each sector. Where a device fetches more than a sector at once, larger strides lose "
            "more.",
        .headline = "bandwidth",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        integer("stride", "words of 4 bytes between neighbouring threads", "", &Params::stride,
                {1, 2, 4, 8, 16, 32, 64}, {1, 64}),
        symbolic("footprint", "bytes of the array", "B", &Params::footprint,
                 {Symbolic{Symbol::beyond_cache}}, {1_MiB, 16_TiB}, {Symbol::beyond_cache}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_device(p.footprint.symbol == Symbol::none ? p.footprint.number
                                                                      : 256_MiB);
    }

    DeviceStride(const Params& p, const Context& context)
        : shape_{shape_for(p)}, clock_{stream_}, words_{shape_.words}, sums_{shape_.threads()} {
        fill_words(words_.data(), shape_.words, stream_);
        stream_.wait();
        context.setting("footprint", static_cast<double>(words_.bytes()));
        context.setting("passes", shape_.passes());
        context.setting("blocks", shape_.blocks);
        context.setting("block_threads", stride_threads);
    }

    device::EventClock& clock() { return clock_; }
    void run() { launch_stride(words_.data(), sums_.data(), shape_, stream_); }
    Work work() const { return {.bytes = shape_.bytes()}; }
    Check verify() const { return check_stride(sums_.data(), shape_, stream_); }
    void poison() { poison_stride(sums_.data(), shape_, stream_); }
    /// One bit of one sum.
    void spoil() { device::flip_bit(sums_, random_bits(spoil_seed, spoils_++), stream_); }

private:
    static constexpr std::uint64_t spoil_seed = 15;

    /// As many threads as the device holds.
    static StrideShape shape_for(const Params& p) {
        const auto found = device::properties();
        const int blocks =
            found.multiprocessors * found.threads_per_multiprocessor / int{stride_threads};
        return {.blocks = static_cast<unsigned>(blocks),
                .stride = static_cast<unsigned>(p.stride),
                .words = static_cast<std::uint64_t>(device::footprint(p.footprint, 1, found)) /
                         sizeof(std::uint32_t)};
    }

    StrideShape shape_;
    device::Stream stream_;
    device::EventClock clock_;
    device::Buffer<std::uint32_t> words_;
    device::Buffer<std::uint32_t> sums_; // of the threads
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark device_stride;
constinit const assay_benchmark device_stride = define<DeviceStride>();

} // namespace assay::memory
