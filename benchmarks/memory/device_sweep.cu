// SPDX-License-Identifier: Apache-2.0
#include "device/worst.cuh"
#include "memory/device_sweep.hpp"

namespace assay::memory {
namespace {

template <Through through>
__device__ uint4 load(const uint4* from) {
    if constexpr (through == Through::l1)
        return __ldca(from);
    else
        return __ldcg(from);
}

/// One block reads its slice `passes` times. `shift` is 0, which the compiler does not know: otherwise it
/// could read what fits into registers once and leave the passes out.
template <Through through, unsigned at_once>
__global__ void __launch_bounds__(sweep_threads)
    sweep(const uint4* vectors, std::uint32_t* sums, unsigned tiles, std::uint64_t passes,
          std::uint64_t shift) {
    constexpr unsigned loads = at_once < 4 ? 4 : at_once;
    constexpr unsigned passes_at_once = loads / at_once;
    const uint4* slice = vectors + sweep_vector(blockIdx.x, threadIdx.x, 0, tiles);
    std::uint32_t sum = 0;
    for (std::uint64_t pass = 0; pass < passes; pass += passes_at_once) {
        for (unsigned tile = 0; tile < tiles; tile += at_once) {
            uint4 got[loads];
            const uint4* from = slice + static_cast<std::uint64_t>(tile) * sweep_threads;
#pragma unroll
            for (unsigned k = 0; k < loads; ++k) {
                got[k] = load<through>(from + (k % at_once) * sweep_threads);
                if (k % at_once == at_once - 1) from += shift;
            }
#pragma unroll
            for (unsigned k = 0; k < loads; ++k) sum += got[k].x + got[k].y + got[k].z + got[k].w;
        }
        slice += passes_at_once * shift;
    }
    sums[static_cast<std::uint64_t>(blockIdx.x) * sweep_threads + threadIdx.x] = sum;
}

using Loop = void (*)(const uint4*, std::uint32_t*, unsigned, std::uint64_t, std::uint64_t);

template <Through through>
Loop loop_for(unsigned at_once) {
    switch (at_once) {
    case 1:
        return sweep<through, 1>;
    case 2:
        return sweep<through, 2>;
    case 4:
        return sweep<through, 4>;
    default:
        return sweep<through, 8>;
    }
}
Loop loop_for(Through through, const SweepShape& shape) {
    return through == Through::l1 ? loop_for<Through::l1>(shape.tiles_at_once)
                                  : loop_for<Through::l2>(shape.tiles_at_once);
}

struct MakeWord {
    std::uint64_t* words;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const { words[i] = sweep_word(i); }
};

/// No sum is known to be impossible, so each becomes the right one's complement.
struct PoisonSum {
    std::uint32_t* sums;
    SweepShape shape;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t thread) const {
        sums[thread] = ~sweep_sum(shape, thread);
    }
};

struct WrongSum {
    const std::uint32_t* sums;
    SweepShape shape;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t thread) const {
        return sums[thread] == sweep_sum(shape, thread) ? 0 : 1;
    }
};

} // namespace

void prepare_sweep(Through through, const SweepShape& shape) {
    device::check(cudaFuncSetAttribute(loop_for(through, shape),
                                       cudaFuncAttributePreferredSharedMemoryCarveout,
                                       cudaSharedmemCarveoutMaxL1));
}

void fill_sweep(std::uint64_t* words, const SweepShape& shape, const device::Stream& stream) {
    device::on_each(stream, 2 * shape.vectors(), MakeWord{words});
    device::check_launches();
}

void launch_sweep(Through through, const std::uint64_t* words, std::uint32_t* sums,
                  const SweepShape& shape, const device::Stream& stream) {
    device::launch(loop_for(through, shape), {shape.blocks, sweep_threads, stream.get()},
                   reinterpret_cast<const uint4*>(words), sums, shape.tiles, shape.passes, 0);
}

void poison_sweep(std::uint32_t* sums, const SweepShape& shape, const device::Stream& stream) {
    device::on_each(stream, shape.threads(), PoisonSum{sums, shape});
    device::check_launches();
    stream.wait();
}

Check check_sweep(const std::uint32_t* sums, const SweepShape& shape,
                  const device::Stream& stream) {
    return device::check_each(stream, shape.threads(), WrongSum{sums, shape}, 0,
                              "the sum of each thread, modulo 2^32, against its recomputation");
}

} // namespace assay::memory
