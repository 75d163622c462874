// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "memory/device_sweep_shapes.hpp"

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
    return at_once == 1   ? sweep<through, 1>
           : at_once == 2 ? sweep<through, 2>
           : at_once == 4 ? sweep<through, 4>
                          : sweep<through, 8>;
}
Loop loop_for(Through through, const SweepShape& shape) {
    return through == Through::l1 ? loop_for<Through::l1>(shape.tiles_at_once)
                                  : loop_for<Through::l2>(shape.tiles_at_once);
}

struct Word {
    ASSAY_HOST_DEVICE std::uint64_t operator()(std::uint64_t i) const { return sweep_word(i); }
};
/// The sum of a thread.
struct Sum {
    SweepShape shape;
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t thread) const {
        return sweep_sum(shape, thread);
    }
};

enum class SweepAccess : std::uint8_t { read };

class DeviceHierarchy : public device::OnDevice {
public:
    struct Params {
        SweepAccess access = SweepAccess::read;
        Through through = Through::l1;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.hierarchy",
        .version = 2, // 1: of 4 MiB asked for it read 2, of 32 MiB 25
        .question =
            "How fast are the caches of this device and the memory behind them, by footprint?",
        .method = "16-byte loads and the additions that keep them, by one block of 1024 threads "
                  "per multiprocessor, each repeating over its own slice of the footprint. A sweep "
                  "over footprints shows each level as a plateau. Data is random; the sum of every "
                  "thread is recomputed on the device.",
        .caveats =
            "`footprint` is the total over all multiprocessors: l1 and l2 are what these levels of "
            "this device surely hold, about half of them. The first-level caches together hold "
            "more than half of the second level on most devices, so l2 is measured with `through` "
            "l2, which bypasses the first level. Other values become the nearest with slices of "
            "16, 32 KiB or a multiple of 64 KiB per multiprocessor; the setting `footprint` is "
            "what was read. Some memories give more to the many blocks of memory.stream.",
        .headline = "bandwidth",
        .place = device::place_kind,
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        choice("access", "access of the loop: read", &Params::access,
               {{"read", SweepAccess::read}}),
        choice("through", "where loads look first: l1, the multiprocessor's cache; l2, past it",
               &Params::through, {{"l1", Through::l1}, {"l2", Through::l2}}),
        symbolic("footprint", "bytes over all multiprocessors", "B", &Params::footprint,
                 {Symbol::l1, Symbol::l2, Symbol::beyond_cache}, {256_KiB, 16_TiB},
                 {Symbol::l1, Symbol::l2, Symbol::beyond_cache}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (p.through == Through::l1 && p.footprint.symbol == Symbol::l2)
            return Fit::no("not applicable: the first level caches hold a part of what the second "
                           "level holds; through=l2 passes by them");
        const bool is_plain = p.footprint.symbol == Symbol::none;
        if (Fit device = device::fits_footprint(p.footprint, 256_MiB); !device) return device;
        const auto least = device::properties().multiprocessors * sweep_tile;
        return Fit::needs(!is_plain || 4 * p.footprint.number >= 3 * least, least,
                          " bytes for so many multiprocessors, not ", p.footprint.number);
    }

    DeviceHierarchy(const Params& p, const Context& context)
        : shape_{shape_for(p)}, loop_{loop_for(p.through, shape_)}, words_{2 * shape_.vectors()},
          sums_{shape_.threads()} {
        // The largest first level cache; before the first launch.
        device::check(cudaFuncSetAttribute(loop_, cudaFuncAttributePreferredSharedMemoryCarveout,
                                           cudaSharedmemCarveoutMaxL1));
        device::for_each_now(stream_, words_.size(), device::Fill{words_.data(), Word{}});
        device::describe_footprint(shape_.bytes(), context);
        context.setting("slice", shape_.bytes() / shape_.blocks);
        context.setting("blocks", shape_.blocks);
        context.setting("passes", shape_.passes);
        context.setting("loads_per_thread", shape_.tiles_at_once < 4 ? 4 : shape_.tiles_at_once);
    }

    void run() {
        device::launch(loop_, {shape_.blocks, sweep_threads, stream_.get()},
                       reinterpret_cast<const uint4*>(words_.data()), sums_.data(), shape_.tiles,
                       shape_.passes, 0);
    }
    Work work() const { return {.bytes = shape_.bytes() * static_cast<double>(shape_.passes)}; }
    Check verify() const { return device::check_sums(stream_, sums_, Sum{shape_}); }
    void poison() { device::poison_sums(stream_, sums_, Sum{shape_}); }
    /// One bit of one sum.
    void spoil() { device::flip_bit(sums_, spoils_.next(), stream_); }

private:
    static SweepShape shape_for(const Params& p) {
        const auto found = device::properties();
        const bool is_level = p.footprint.symbol == Symbol::l1 || p.footprint.symbol == Symbol::l2;
        // A block may share most of what a multiprocessor has for both, cache and sharing.
        return sweep_shape(is_level ? sweep_level(p.footprint.symbol, found.multiprocessors,
                                                  found.shared_bytes_per_block, found.l2_bytes)
                                    : device::footprint(p.footprint, 1, found),
                           found.multiprocessors);
    }

    SweepShape shape_;
    Loop loop_;
    device::Buffer<std::uint64_t> words_;
    device::Buffer<std::uint32_t> sums_; // of the threads
    Picks spoils_{12};
};

} // namespace

extern constinit const assay_benchmark device_hierarchy = define<DeviceHierarchy>();

} // namespace assay::memory
