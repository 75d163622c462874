// SPDX-License-Identifier: Apache-2.0

#include "device/place.hpp"
#include "device/properties.hpp"
#include "memory/device_access.hpp"

#include <assay/define.hpp>
#include <assay/random.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace assay::memory {
namespace {

class DeviceBanks : public device::OnDevice {
public:
    struct Params {
        std::int64_t stride = 1;
    };
    static constexpr Info info{
        .id = "memory.banks",
        .question =
            "How fast is the shared memory of this device, and what do bank conflicts cost?",
        .method = "One block of 1024 threads per multiprocessor reads 4-byte words of shared "
                  "memory; adjacent threads of a warp read words `stride` apart. Data is random; "
                  "the sum of every thread is recomputed on the device.",
        .caveats = "There are 32 banks of one word: with stride 2, 4, 8, 16 or 32, that many "
                   "threads of a warp conflict; odd strides are conflict-free. Counts the bytes "
                   "that threads request, over all multiprocessors.",
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
          blocks_{static_cast<unsigned>(device::properties().multiprocessors)},
          sums_{std::size_t{blocks_} * bank_threads} {
        context.setting("blocks", blocks_);
        context.setting("block_threads", bank_threads);
    }

    void run() { launch_banks(sums_.data(), blocks_, stride_, stream_); }
    Work work() const { return {.bytes = bank_bytes(blocks_)}; }
    Check verify() const { return check_banks(sums_.data(), blocks_, stride_, stream_); }
    void poison() { poison_banks(sums_.data(), blocks_, stride_, stream_); }
    /// One bit of one sum.
    void spoil() { device::flip_bit(sums_, spoils_.next(), stream_); }

private:
    unsigned stride_;
    unsigned blocks_;
    device::Buffer<std::uint32_t> sums_; // of the threads
    Picks spoils_{16};
};

} // namespace

extern constinit const assay_benchmark device_banks = define<DeviceBanks>();

} // namespace assay::memory
