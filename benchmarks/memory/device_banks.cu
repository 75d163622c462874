// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "memory/device_access_shapes.hpp"

namespace assay::memory {
namespace {

/// The sum of a thread.
struct Banks {
    unsigned stride;
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t thread) const {
        return bank_sum(static_cast<unsigned>(thread % bank_threads), stride);
    }
};

__global__ void __launch_bounds__(bank_threads) read_banks(std::uint32_t* sums, unsigned stride) {
    __shared__ std::uint32_t words[bank_words];
    for (unsigned i = threadIdx.x; i < bank_words; i += bank_threads) words[i] = access_word(i);
    __syncthreads();
    std::uint32_t sum = 0;
    for (unsigned repeat = 0; repeat < bank_repeats; ++repeat)
        for (unsigned round = 0; round < bank_rounds; ++round) {
            const std::uint32_t* const from = words + bank_word(threadIdx.x, round, stride);
#pragma unroll
            for (unsigned k = 0; k < bank_loads; ++k) sum += from[k];
        }
    sums[static_cast<std::uint64_t>(blockIdx.x) * bank_threads + threadIdx.x] = sum;
}

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
        .place = device::place_kind,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        integer("stride", "words of 4 bytes between neighbouring threads", "", &Params::stride,
                {1, 2, 3, 4, 8, 16, 32}, {1, most_bank_stride}),
    };

    static Fit fit(const Params& /*params*/, const Machine& /*machine*/) {
        return device::fits_device(16_MiB);
    }

    DeviceBanks(const Params& p, const Context& context)
        : stride_{static_cast<unsigned>(p.stride)},
          blocks_{static_cast<unsigned>(device::properties().multiprocessors)},
          sums_{std::size_t{blocks_} * bank_threads} {
        context.setting("blocks", blocks_);
        context.setting("block_threads", bank_threads);
    }

    void run() {
        device::launch(read_banks, {blocks_, bank_threads, stream_.get()}, sums_.data(), stride_);
    }
    Work work() const { return {.bytes = bank_bytes(blocks_)}; }
    Check verify() const { return device::check_sums(stream_, sums_, Banks{stride_}); }
    void poison() { device::poison_sums(stream_, sums_, Banks{stride_}); }
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
