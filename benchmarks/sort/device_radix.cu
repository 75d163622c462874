// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "sort/keys.hpp"

namespace assay::sort {
namespace {

constexpr unsigned radix_bits = 8;
constexpr unsigned radix_digits = 1U << radix_bits;
constexpr unsigned radix_threads =
    radix_digits; // of a block: in turns each has some keys, and a digit
constexpr unsigned radix_warps = radix_threads / device::warp_lanes;
template <class Key>
constexpr unsigned radix_items = 64 / sizeof(Key); // keys of a thread in one tile
template <class Key>
constexpr unsigned radix_tile = radix_threads * radix_items<Key>;

/// Every block has a slice of whole tiles.
template <class Key>
struct Pass {
    const Key* from;
    Key* to;
    std::uint32_t* places; ///< of each block, for each digit: how many keys, then where they go
    std::uint64_t count;
    unsigned shift;

    __device__ unsigned digit(Key key) const {
        return static_cast<unsigned>(key >> shift) % radix_digits;
    }
    __device__ Slice slice() const {
        return slice_of(count, blockIdx.x, gridDim.x, radix_tile<Key>);
    }
    __device__ std::uint32_t& place() const {
        return places[std::size_t{blockIdx.x} * radix_digits + threadIdx.x];
    }
};

template <class Key>
__global__ void __launch_bounds__(radix_threads) count_digits(Pass<Key> pass) {
    __shared__ std::uint32_t counts[radix_digits];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const Slice slice = pass.slice();
    for (std::size_t i = slice.first + threadIdx.x; i < slice.last; i += radix_threads)
        atomicAdd(counts + pass.digit(pass.from[i]), 1U);
    __syncthreads();
    pass.place() = counts[threadIdx.x];
}

/// The sum over the threads before this one, by every thread of a block.
__device__ std::uint32_t sum_before(std::uint32_t own) {
    __shared__ std::uint32_t warps[radix_warps];
    std::uint32_t sum = device::sum_up_to_lane(own);
    if (device::lane() == device::warp_lanes - 1) warps[device::warp()] = sum;
    __syncthreads();
    for (unsigned warp = 0; warp < device::warp(); ++warp) sum += warps[warp];
    return sum - own;
}

/// By one block. Smaller digits come first, of each those of earlier blocks.
__global__ void __launch_bounds__(radix_threads)
    find_places(std::uint32_t* places, unsigned blocks) {
    std::uint32_t* const own = places + threadIdx.x;
    std::uint32_t sum = 0;
#pragma unroll 8
    for (unsigned block = 0; block < blocks; ++block) sum += own[std::size_t{block} * radix_digits];
    std::uint32_t before = sum_before(sum);
#pragma unroll 8
    for (unsigned block = 0; block < blocks; ++block) {
        std::uint32_t& place = own[std::size_t{block} * radix_digits];
        const std::uint32_t here = place;
        place = before;
        before += here;
    }
}

/// Tile by tile: ranks the keys within it, sorts it in shared memory, and writes what has one digit in a row.
template <class Key>
__global__ void __launch_bounds__(radix_threads) move_keys(Pass<Key> pass) {
    constexpr unsigned items = radix_items<Key>;
    constexpr unsigned tile = radix_tile<Key>;
    __shared__ std::uint32_t of_warp[radix_warps][radix_digits]; // keys with a digit
    __shared__ std::uint32_t first[radix_digits];                // in the sorted tile
    __shared__ std::uint32_t offset[radix_digits];               // from there to memory
    __shared__ Key sorted[tile];
    const unsigned warp = device::warp();
    const device::Lanes lanes_before = (device::Lanes{1} << device::lane()) - 1;
    const Slice slice = pass.slice();
    std::uint32_t next = pass.place();
    for (std::size_t start = slice.first; start < slice.last; start += tile) {
        // NOLINTNEXTLINE(modernize-loop-convert): of all warps
        for (unsigned w = 0; w < radix_warps; ++w) of_warp[w][threadIdx.x] = 0;
        __syncthreads();
        Key keys[items];
        std::uint32_t ranks[items]; // among the keys of this warp with the same digit
#pragma unroll
        for (unsigned k = 0; k < items; ++k) {
            const std::size_t at = start + (warp * items + k) * device::warp_lanes + device::lane();
            // What is missing in the last tile has the largest digit: it goes behind all that is there.
            keys[k] = at < slice.last ? pass.from[at] : static_cast<Key>(~Key{0});
        }
#pragma unroll
        for (unsigned k = 0; k < items; ++k) {
            const unsigned digit = pass.digit(keys[k]);
            const device::Lanes same = __match_any_sync(device::every_lane, digit);
            const unsigned before = device::count(same & lanes_before);
            const std::uint32_t earlier = of_warp[warp][digit];
            __syncwarp();
            if (before == 0) of_warp[warp][digit] = earlier + device::count(same);
            __syncwarp();
            ranks[k] = earlier + before;
        }
        __syncthreads();
        std::uint32_t sum = 0; // of the digit that this thread has
        // NOLINTNEXTLINE(modernize-loop-convert): of all warps
        for (unsigned w = 0; w < radix_warps; ++w) {
            const std::uint32_t here = of_warp[w][threadIdx.x];
            of_warp[w][threadIdx.x] = sum;
            sum += here;
        }
        first[threadIdx.x] = sum_before(sum);
        offset[threadIdx.x] = next - first[threadIdx.x];
        next += sum;
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < items; ++k) {
            const unsigned digit = pass.digit(keys[k]);
            sorted[first[digit] + of_warp[warp][digit] + ranks[k]] = keys[k];
        }
        __syncthreads();
        const std::size_t rest = slice.last - start;
        for (unsigned i = threadIdx.x; i < tile && i < rest; i += radix_threads)
            pass.to[offset[pass.digit(sorted[i])] + i] = sorted[i];
    }
}

template <class Key>
struct KeyAt {
    Distribution distribution;
    ASSAY_HOST_DEVICE Key operator()(std::uint64_t i) const {
        return keys::key_at<Key>(distribution, i);
    }
};

/// One of so many sums of marks.
template <class Key>
struct MarkSum {
    static constexpr std::uint64_t parts = 1U << 14U;
    const Key* keys;
    std::uint64_t count;
    unsigned long long* sums;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t part) const {
        unsigned long long sum = 0;
        for (std::uint64_t i = part; i < count; i += parts) sum += keys::mark_of(keys[i]);
        sums[part] = sum;
    }
};

template <class Key>
class Keys {
public:
    static constexpr unsigned passes = 8 * sizeof(Key) / radix_bits;
    static_assert(passes % 2 == 0, "the last one writes the result");

    Keys(Distribution distribution, std::int64_t footprint, device::Place& place,
         const Context& context)
        : distribution_{distribution}, place_{place}, count_{keys::count_of<Key>(footprint)},
          // Four blocks fit into the shared memory of a multiprocessor.
          blocks_{4 * static_cast<unsigned>(place.properties.multiprocessors)}, in_{count_},
          out_{count_}, spare_{count_}, places_{std::size_t{blocks_} * radix_digits} {
        device::for_each_now(place.stream, count_,
                             device::Fill{in_.data(), KeyAt<Key>{distribution}});
        poison();
        place.clock.expect_operations(3 * passes);
        context.setting("digit_bits", radix_bits);
        keys::describe<Key>(count_, context);
    }

    void run() {
        const device::Launch all{blocks_, radix_threads, place_.stream.get()};
        const device::Launch one{1, radix_threads, place_.stream.get()};
        Pass<Key> pass{in_.data(), spare_.data(), places_.data(), count_, 0};
        for (unsigned i = 0; i < passes; ++i, pass.shift += radix_bits) {
            device::launch(count_digits<Key>, all, pass);
            device::launch(find_places, one, places_.data(), blocks_);
            device::launch(move_keys<Key>, all, pass);
            pass.from = pass.to;
            pass.to = i % 2 == 0 ? out_.data() : spare_.data();
        }
    }
    Work work() const { return keys::work<Key>(count_); }
    Check verify() const {
        Check order = device::check_each(
            place_.stream, count_, keys::OutOfOrder<Key>{distribution_, in_.data(), out_.data()}, 0,
            keys::method);
        if (!order.passed) return order;
        const bool same = marks_of(in_) == marks_of(out_);
        return check_value(same ? 0 : 1, 0, keys::method, keys::lost);
    }
    Outputs outputs() const { return {device::output(out_, place_.stream)}; }
    void poison() { device::set_bytes(out_, 0xff, place_.stream); }
    /// The lowest bit of one key, which may leave the order as it was.
    void spoil() {
        device::change(out_.data() + spoils_.next() % count_, place_.stream,
                       [](Key key) { return key ^ 1; });
    }

private:
    std::uint64_t marks_of(const device::Buffer<Key>& of) const {
        const device::Buffer<unsigned long long> sums{MarkSum<Key>::parts};
        device::for_each_now(place_.stream, sums.size(),
                             MarkSum<Key>{of.data(), count_, sums.data()});
        std::uint64_t sum = 0;
        for (const auto part : device::to_host(sums, place_.stream)) sum += part;
        return sum;
    }

    Distribution distribution_;
    device::Place& place_;
    std::uint64_t count_;
    unsigned blocks_;
    device::Buffer<Key> in_;
    device::Buffer<Key> out_;
    device::Buffer<Key> spare_;
    device::Buffer<std::uint32_t> places_;
    Picks spoils_{keys::spoil_seed};
};

class DeviceRadix : private device::Place, public OneOf<Keys<std::uint32_t>, Keys<std::uint64_t>> {
public:
    struct Params {
        Type type = Type::uint32;
        Distribution distribution = Distribution::uniform;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "sort.radix",
        .question = "How fast does this device sort integers?",
        .method = "Random keys are sorted by digits of 8 bits, the least significant one first, "
                  "from one array into another. In each pass every block counts the digits of its "
                  "slice, one block finds the places, and every block sorts its slice by tiles in "
                  "shared memory and writes what has one digit in a row. Skewed keys have one bit "
                  "in eight set. The result must ascend, and the sums of a random number for each "
                  "key must be equal before and after; both are computed on the device.",
        .caveats = "Bytes count each key read and written once, which any sorting must move; every "
                   "pass moves them three times, so a small share of memory.stream is usual. Three "
                   "kernels a pass: algorithms that find places while they move keys (onesweep) "
                   "read a third less. Keys alone, without what they belong to.",
        .headline = "item_rate",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .trial_bytes = 384_KiB,
        .noise = Noise::memory,
        .items = "keys",
        .reproducible = true,
    };
    static constexpr auto axes = keys::axes<Params>;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_footprint(p.footprint, 256_MiB);
    }

    DeviceRadix(const Params& p, const Context& context)
        : OneOf{p.type, p.distribution, device::footprint(p.footprint, 3, properties),
                static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_radix = define<DeviceRadix>();

} // namespace assay::sort
