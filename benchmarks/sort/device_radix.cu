// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "sort/keys.hpp"

namespace assay::sort {
namespace {

constexpr unsigned radix_bits = 8;
constexpr unsigned radix_digits = 1U << radix_bits;

// Tuned values: threads of a block, keys of each, and blocks of a multiprocessor that registers are left for.
constexpr unsigned radix_threads = 384;
template <class Key>
constexpr unsigned radix_items = sizeof(Key) == 4 ? 20 : 15;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 // 1024 threads are all that a multiprocessor has
template <class Key>
constexpr unsigned radix_blocks = 2;
#else
template <class Key>
constexpr unsigned radix_blocks = sizeof(Key) == 4 ? 4 : 3;
#endif
constexpr unsigned count_threads = 512;

constexpr unsigned radix_warps = radix_threads / device::warp_lanes;
constexpr unsigned digit_warps =
    radix_digits / device::warp_lanes; // whose threads have a digit each
template <class Key>
constexpr unsigned radix_tile = radix_threads * radix_items<Key>;

template <class Key>
__device__ unsigned digit_of(Key key, unsigned shift) {
    return static_cast<unsigned>(key >> shift) % radix_digits;
}

/// Counts the digits of all passes at once.
template <class Key>
__global__ void __launch_bounds__(count_threads)
    count_digits(const Key* keys, std::uint64_t count, std::uint32_t* counts) {
    constexpr unsigned all = sizeof(Key) * radix_digits;
    __shared__ std::uint32_t of_block[all];
    for (unsigned i = threadIdx.x; i < all; i += count_threads) of_block[i] = 0;
    __syncthreads();
    const std::uint64_t step = std::uint64_t{gridDim.x} * count_threads;
#pragma unroll 8
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * count_threads + threadIdx.x; i < count;
         i += step) {
        const Key key = keys[i];
#pragma unroll
        for (unsigned pass = 0; pass < sizeof(Key); ++pass)
            atomicAdd(of_block + pass * radix_digits + digit_of(key, pass * radix_bits), 1U);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < all; i += count_threads) atomicAdd(counts + i, of_block[i]);
}

/// By one block for each pass: where the keys with a digit begin.
__global__ void __launch_bounds__(radix_digits) find_places(std::uint32_t* counts) {
    __shared__ std::uint32_t of_warp[digit_warps];
    std::uint32_t& place = counts[blockIdx.x * radix_digits + threadIdx.x];
    const std::uint32_t own = place;
    std::uint32_t sum = device::sum_up_to_lane(own);
    if (device::lane() == device::warp_lanes - 1) of_warp[device::warp()] = sum;
    __syncthreads();
    for (unsigned warp = 0; warp < device::warp(); ++warp) sum += of_warp[warp];
    place = sum - own;
}

/// A tile's word on each digit for the tiles after it: a count of keys, whether those of all tiles before are in it,
/// and in the highest bit, whether the pass is an odd one. Every pass writes every word, so that nothing is cleared.
template <class Word>
struct Told {
    static constexpr unsigned bits = 8 * sizeof(Word) - 2;
    static constexpr Word with_earlier = Word{1} << bits;
    static constexpr Word most = with_earlier - 1;
    static __device__ Word word(unsigned parity, Word count) {
        return Word{parity} << (bits + 1) | count;
    }
    static __device__ unsigned parity(Word word) {
        return static_cast<unsigned>(word >> (bits + 1));
    }
};

template <class Key, class Word>
struct Pass {
    const Key* from;
    Key* to;
    const std::uint32_t* places; ///< of each digit
    volatile Word* told;         ///< of each tile and digit
    std::uint32_t* started;      ///< tiles
    std::uint64_t count;
    unsigned shift;
    unsigned parity;
};

template <class Key>
struct Shared {
    std::uint32_t places[radix_warps]
                        [radix_digits]; ///< first counts; then where a warp's next key goes
    std::uint32_t offset[radix_digits]; ///< from the sorted tile to memory
    std::uint32_t of_warp[digit_warps];
    unsigned tile;
    unsigned shift; ///< read anew in each part, or digits of one stay in registers for the next
    alignas(8) Key sorted[radix_tile<Key>];
};

/// The lanes whose digit is the same. A ballot a bit: the time of __match_any_sync() grows with the digits that occur.
__device__ device::Lanes lanes_alike(unsigned digit) {
    device::Lanes others = 0;
#pragma unroll
    for (unsigned bit = 0; bit < radix_bits; ++bit) {
        const device::Lanes is_set = (digit >> bit) % 2;
        others |= __ballot_sync(device::every_lane, is_set != 0) ^ (device::Lanes{0} - is_set);
    }
    return ~others;
}

/// Where the lane's key goes, after all keys of this digit that are before it in the warp's part of the tile.
__device__ std::uint32_t take_place(std::uint32_t* next, unsigned digit) {
    const std::uint32_t first = next[digit];
    __syncwarp();
    const device::Lanes own = device::Lanes{1} << device::lane();
    const device::Lanes alike = lanes_alike(digit);
    const std::uint32_t place = first + device::count(alike & (own - 1));
    if ((alike & ~(own - 1)) == own) next[digit] = place + 1; // the last of them
    __syncwarp();
    return place;
}

/// The keys of this digit in all tiles before, by what these tell: the
/// nearest ones their own counts, one all before it.
template <class Key, class Word>
__device__ Word look_back(const Pass<Key, Word>& pass, unsigned tile, unsigned digit) {
    using In = Told<Word>;
    Word sum = 0;
    while (tile > 0) {
        const Word word = pass.told[std::size_t{tile - 1} * radix_digits + digit];
        if (In::parity(word) != pass.parity) continue; // not told yet
        sum += word & In::most;
        if ((word & In::with_earlier) != 0) break;
        --tile;
    }
    return sum;
}

/// One tile: ranks the keys within it, sorts it in shared memory, and writes what has one digit in a row. Tiles are
/// numbered as they start, so that a tile waits only for others that run.
template <class Key, class Word>
__global__ void __launch_bounds__(radix_threads, radix_blocks<Key>)
    move_keys(Pass<Key, Word> pass) {
    constexpr unsigned items = radix_items<Key>;
    using In = Told<Word>;
    Shared<Key>& shared = *device::dynamic_shared<Shared<Key>>();
    if (threadIdx.x == 0) {
        shared.tile = atomicAdd(pass.started, 1U);
        shared.shift = pass.shift;
    }
    std::uint32_t* const own_places = shared.places[device::warp()];
    for (unsigned i = device::lane(); i < radix_digits; i += device::warp_lanes) own_places[i] = 0;
    __syncthreads();
    const unsigned tile = shared.tile;
    const std::uint64_t start = std::uint64_t{tile} * radix_tile<Key>;
    const auto rest = static_cast<unsigned>(
        pass.count - start < radix_tile<Key> ? pass.count - start : radix_tile<Key>);

    Key keys[items];
    const unsigned at = device::warp() * items * device::warp_lanes + device::lane();
    const Key* const from = pass.from + start;
    if (rest == radix_tile<Key>) {
#pragma unroll
        for (unsigned k = 0; k < items; ++k) keys[k] = from[at + k * device::warp_lanes];
    } else {
        // Keys missing in the last tile have the largest digit: they go behind all others.
#pragma unroll
        for (unsigned k = 0; k < items; ++k) {
            const unsigned i = at + k * device::warp_lanes;
            keys[k] = i < rest ? from[i] : static_cast<Key>(~Key{0});
        }
    }

    unsigned shift = shared.shift;
#pragma unroll
    for (unsigned k = 0; k < items; ++k) atomicAdd(own_places + digit_of(keys[k], shift), 1U);
    __syncthreads();

    const unsigned digit = threadIdx.x; // of the first threads
    volatile Word* const told = pass.told + std::size_t{tile} * radix_digits + digit;
    std::uint32_t here = 0;
    std::uint32_t first = 0; // in the sorted tile
    if (digit < radix_digits) {
        for (const auto& of_warp : shared.places) here += of_warp[digit];
        *told = In::word(pass.parity, here);
        first = device::sum_up_to_lane(here);
        if (device::lane() == device::warp_lanes - 1) shared.of_warp[device::warp()] = first;
        first -= here;
    }
    __syncthreads();
    if (digit < radix_digits) {
        for (unsigned warp = 0; warp < device::warp(); ++warp) first += shared.of_warp[warp];
        std::uint32_t next = first;
        for (auto& of_warp : shared.places) {
            const std::uint32_t of_this = of_warp[digit];
            of_warp[digit] = next;
            next += of_this;
        }
    }
    __syncthreads();

    shift = shared.shift;
#pragma unroll
    for (unsigned k = 0; k < items; ++k)
        shared.sorted[take_place(own_places, digit_of(keys[k], shift))] = keys[k];
    if (digit < radix_digits) {
        const Word before = look_back(pass, tile, digit);
        *told = In::word(pass.parity, In::with_earlier | (before + here));
        shared.offset[digit] = pass.places[digit] + static_cast<std::uint32_t>(before) - first;
    }
    __syncthreads();

    shift = shared.shift;
#pragma unroll 4
    for (unsigned k = 0; k < items; ++k) {
        const unsigned i = k * radix_threads + threadIdx.x;
        if (i < rest) {
            const Key key = shared.sorted[i];
            pass.to[shared.offset[digit_of(key, shift)] + i] = key;
        }
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
          tiles_{static_cast<unsigned>((count_ + radix_tile<Key> - 1) / radix_tile<Key>)},
          in_{count_}, out_{count_}, spare_{count_}, counts_{passes * (radix_digits + 1)},
          told_{std::size_t{tiles_} * radix_digits * (is_large() ? 2 : 1)} {
        device::for_each_now(place.stream, count_,
                             device::Fill{in_.data(), KeyAt<Key>{distribution}});
        device::set_bytes(told_, 0xff, place.stream); // as after an odd pass
        poison();
        allow_shared(move_keys<Key, std::uint32_t>);
        allow_shared(move_keys<Key, std::uint64_t>);
        place.clock.expect_operations(3 + passes);
        context.setting("digit_bits", radix_bits);
        keys::describe<Key>(count_, context);
    }

    void run() {
        const cudaStream_t stream = place_.stream.get();
        const auto multiprocessors = static_cast<unsigned>(place_.properties.multiprocessors);
        device::check(cudaMemsetAsync(counts_.data(), 0, counts_.bytes(), stream));
        device::launch(count_digits<Key>, {4 * multiprocessors, count_threads, stream}, in_.data(),
                       count_, counts_.data());
        device::launch(find_places, {passes, radix_digits, stream}, counts_.data());
        if (is_large())
            move<std::uint64_t>();
        else
            move<std::uint32_t>();
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
    /// Are there more keys than a word of 32 bits can tell?
    bool is_large() const { return count_ > Told<std::uint32_t>::most; }
    template <class Word>
    static void allow_shared(void (*kernel)(Pass<Key, Word>)) {
        device::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(sizeof(Shared<Key>))));
    }
    template <class Word>
    void move() {
        const device::Launch tiles{tiles_, radix_threads, place_.stream.get(), sizeof(Shared<Key>)};
        Pass<Key, Word> pass{.from = in_.data(),
                             .to = spare_.data(),
                             .places = counts_.data(),
                             .told = reinterpret_cast<Word*>(told_.data()),
                             .started = counts_.data() + passes * radix_digits,
                             .count = count_,
                             .shift = 0,
                             .parity = 0};
        for (unsigned i = 0; i < passes; ++i) {
            device::launch(move_keys<Key, Word>, tiles, pass);
            pass.from = pass.to;
            pass.to = i % 2 == 0 ? out_.data() : spare_.data();
            pass.places += radix_digits;
            ++pass.started;
            pass.shift += radix_bits;
            pass.parity ^= 1U;
        }
    }
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
    unsigned tiles_;
    device::Buffer<Key> in_;
    device::Buffer<Key> out_;
    device::Buffer<Key> spare_;
    device::Buffer<std::uint32_t>
        counts_; ///< of all digits of all passes, then of the tiles that have started
    device::Buffer<std::uint32_t> told_; ///< words of one or two of these
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
        .version = 2, // 1: three kernels a pass
        .question = "How fast does this device sort integers?",
        .method = "Random keys are sorted by digits of 8 bits, the least significant one first, "
                  "from one array into another. One kernel counts the digits of all passes; then "
                  "one kernel a pass sorts tiles in shared memory and writes keys with the same "
                  "digit contiguously, at the offset given by the counts of the tiles before it "
                  "(onesweep, by decoupled look-back). Skewed keys have one bit in eight set. "
                  "The result must ascend, and the sums of a random number for each key must be "
                  "equal before and after; both are computed on the device.",
        .caveats = "Bytes count each key read and written once, which any sorting must move; "
                   "every pass does so, and counting reads them once more: a small share of "
                   "memory.stream is usual. Keys only, without values.",
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
        const std::int64_t keys = device::footprint_or(p.footprint, 256_MiB);
        return device::fits_device(keys + keys / 32); // with what tiles tell each other
    }

    DeviceRadix(const Params& p, const Context& context)
        : OneOf{p.type, p.distribution, device::footprint(p.footprint, 3, properties),
                static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_radix = define<DeviceRadix>();

} // namespace assay::sort
