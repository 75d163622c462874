// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "memory/device_access_shapes.hpp"

namespace assay::memory {
namespace {

/// Words from memory, and the same made again.
struct Loaded {
    const std::uint32_t* words;
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t i) const { return words[i]; }
};
struct Remade {
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t i) const { return access_word(i); }
};

/// The sum of a thread.
struct Stride {
    StrideShape shape;
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t thread) const {
        return stride_sum(shape, thread, Remade{});
    }
};

__global__ void __launch_bounds__(stride_threads)
    read_strided(const std::uint32_t* words, std::uint32_t* sums, StrideShape shape) {
    const std::uint64_t thread =
        static_cast<std::uint64_t>(blockIdx.x) * stride_threads + threadIdx.x;
    sums[thread] = stride_sum(shape, thread, Loaded{words});
}

class DeviceStride : public device::OnDevice {
public:
    struct Params {
        std::int64_t stride = 1;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.stride",
        .question =
            "How much bandwidth does this device lose when adjacent threads read with a stride?",
        .method = "All multiprocessors read 4-byte words; adjacent threads read words `stride` "
                  "apart. Beyond a 32-byte sector, several passes one sector apart touch every "
                  "sector once, so that every stride moves the same memory. Data is random; the "
                  "sum of every thread is recomputed on the device.",
        .caveats =
            "Counts the bytes that threads request: from stride 8 on, 4 of the 32 bytes of each "
            "sector. Larger strides lose more on devices that fetch more than a sector at once.",
        .headline = "bandwidth",
        .place = device::place_kind,
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        integer("stride", "words of 4 bytes between neighbouring threads", "", &Params::stride,
                {1, 2, 4, 8, 16, 32, 64}, {1, 64}),
        footprint_axis("bytes of the array", &Params::footprint, {Symbol::beyond_cache},
                       {1_MiB, 16_TiB}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_footprint(p.footprint, 256_MiB);
    }

    DeviceStride(const Params& p, const Context& context)
        : shape_{shape_for(p)}, words_{shape_.words}, sums_{shape_.threads()} {
        device::for_each_now(stream_, shape_.words, device::Fill{words_.data(), Remade{}});
        device::describe_footprint(words_.bytes(), context);
        context.setting("passes", shape_.passes());
        context.setting("blocks", shape_.blocks);
        context.setting("block_threads", stride_threads);
    }

    void run() {
        device::launch(read_strided, {shape_.blocks, stride_threads, stream_.get()}, words_.data(),
                       sums_.data(), shape_);
    }
    Work work() const { return {.bytes = shape_.bytes()}; }
    Check verify() const { return device::check_sums(stream_, sums_, Stride{shape_}); }
    void poison() { device::poison_sums(stream_, sums_, Stride{shape_}); }
    /// One bit of one sum.
    void spoil() { device::flip_bit(sums_, spoils_.next(), stream_); }

private:
    /// The number of threads that the device holds.
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
    device::Buffer<std::uint32_t> words_;
    device::Buffer<std::uint32_t> sums_; // of the threads
    Picks spoils_{15};
};

} // namespace

extern constinit const assay_benchmark device_stride = define<DeviceStride>();

} // namespace assay::memory
