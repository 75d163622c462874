// SPDX-License-Identifier: Apache-2.0

#include "device/clock.hpp"
#include "device/properties.hpp"
#include "memory/device_access.hpp"

#include <assay/define.hpp>
#include <assay/random.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace assay::memory {
namespace {

class DeviceBanks {
public:
    struct Params {
        std::int64_t stride = 1;
    };
    static constexpr Info info{
        .id = "memory.banks",
        .question =
            "How fast is the shared memory of this device, and what do bank conflicts cost?",
        .method =
            "One block of 1024 threads on each multiprocessor reads words of 4 bytes of shared "
            "memory; "
            "neighbouring threads of a warp take words that are `stride` apart. Words are random; "
            "the "
            "sum of every thread is compared on the device with that of the words made again.",
        .caveats =
            "There are 32 banks, of one word each: with stride 2, 4, 8, 16, 32 that many threads "
            "of a "
            "warp want the same bank and take turns; odd strides do without. Counts the bytes that "
            "threads ask for, over all multiprocessors.",
        .headline = "bandwidth",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        integer("stride", "words of 4 bytes between neighbouring threads", "", &Params::stride,
                {1, 2, 3, 4, 8, 16, 32}, {1, most_bank_stride}),
    };

    static Fit fit(const Params& /*params*/, const Machine& /*machine*/) {
        return device::fits_device(std::int64_t{16} << 20U);
    }

    DeviceBanks(const Params& p, const Context& context)
        : stride_{static_cast<unsigned>(p.stride)},
          blocks_{static_cast<unsigned>(device::properties().multiprocessors)}, clock_{stream_},
          sums_{std::size_t{blocks_} * bank_threads} {
        context.setting("blocks", blocks_);
        context.setting("block_threads", bank_threads);
    }

    device::EventClock& clock() { return clock_; }
    void run() { launch_banks(sums_.data(), blocks_, stride_, stream_); }
    Work work() const { return {.bytes = bank_bytes(blocks_)}; }
    Check verify() const { return check_banks(sums_.data(), blocks_, stride_, stream_); }
    void poison() { poison_banks(sums_.data(), blocks_, stride_, stream_); }
    /// One bit of one sum.
    void spoil() { device::flip_bit(sums_, random_bits(spoil_seed, spoils_++), stream_); }

private:
    static constexpr std::uint64_t spoil_seed = 16;

    unsigned stride_;
    unsigned blocks_;
    device::Stream stream_;
    device::EventClock clock_;
    device::Buffer<std::uint32_t> sums_; // of the threads
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark device_banks;
constinit const assay_benchmark device_banks = define<DeviceBanks>();

} // namespace assay::memory
