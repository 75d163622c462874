// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "peak/atomics.hpp"

namespace assay::peak {
namespace {

__global__ void add_global(std::uint32_t* words, unsigned shift, unsigned rounds,
                           std::uint32_t addend) {
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    std::uint32_t* const word = words + atomic_word(thread, shift);
    for (unsigned round = 0; round < rounds; ++round) atomicAdd(word, addend);
}

/// A block adds its sum to words of its own, which no other block touches.
__global__ void add_shared(std::uint32_t* words, unsigned shift, unsigned rounds,
                           std::uint32_t addend, unsigned words_of_block) {
    __shared__ std::uint32_t own[atomic_threads];
    own[threadIdx.x] = 0;
    __syncthreads();
    std::uint32_t* const word = own + atomic_word(threadIdx.x, shift);
    for (unsigned round = 0; round < rounds; ++round) atomicAdd(word, addend);
    __syncthreads();
    if (threadIdx.x < words_of_block)
        words[static_cast<std::uint64_t>(blockIdx.x) * words_of_block + threadIdx.x] +=
            own[threadIdx.x];
}

template <AtomicSpace space>
__global__ void chain(std::uint32_t* results) {
    __shared__ std::uint32_t shared;
    std::uint32_t* const word = space == AtomicSpace::shared ? &shared : results;
    atomicExch(word, 0U);
    std::uint32_t returned = 0;
    for (std::uint32_t step = 0; step < chain_steps; ++step)
        returned = atomicAdd(word, chain_addend(returned));
    if constexpr (space == AtomicSpace::shared) results[0] = shared;
    results[1] = returned;
}

void add_atomically(const AtomicShape& shape, std::uint32_t* words, const device::Stream& stream) {
    const device::Launch how{shape.blocks, atomic_threads, stream.get()};
    if (shape.space == AtomicSpace::shared)
        device::launch(add_shared, how, words, shape.shift(), shape.rounds, atomic_addend,
                       static_cast<unsigned>(shape.words_of_team()));
    else
        device::launch(add_global, how, words, shape.shift(), shape.rounds, atomic_addend);
}

void chain_atomically(AtomicSpace space, std::uint32_t* results, const device::Stream& stream) {
    if (space == AtomicSpace::shared)
        device::launch(chain<AtomicSpace::shared>, {1, 1, stream.get()}, results);
    else
        device::launch(chain<AtomicSpace::global>, {1, 1, stream.get()}, results);
}

/// Words of the device that are compared on the host.
class Words {
public:
    explicit Words(std::size_t count) : words_{count} {}
    std::uint32_t* data() const { return words_.data(); }

    void set_all_bytes(int byte, const device::Stream& stream) const {
        device::set_bytes(words_, byte, stream);
    }
    void add_one(std::uint64_t pick, const device::Stream& stream) const {
        std::uint32_t* const at = data() + pick % words_.size();
        device::put(device::get(at, stream) + 1, at, stream);
    }
    template <class Expected>
    Check check(const device::Stream& stream, Expected&& expected, std::string method) const {
        const auto got = device::to_host(words_, stream);
        return check_equal(std::span<const std::uint32_t>{got}, expected, std::move(method));
    }

private:
    device::Buffer<std::uint32_t> words_;
};

class Atomics : public device::OnDevice {
public:
    struct Params {
        AtomicSpace space = AtomicSpace::global;
        Spread spread = Spread::same;
    };
    static constexpr Info info{
        .id = "peak.atomic",
        .question = "What is the rate of atomic additions of this device?",
        .method =
            "32-bit integer additions whose result is not used, by as many threads as the device "
            "holds, on words in global memory or in the shared memory of each multiprocessor: all "
            "threads on one word (same; of each block in shared memory), the 32 of a warp on one "
            "(warp), or each thread on its own (thread), words contiguous. Timed with device "
            "events, "
            "launch overhead excluded. Every word is compared exactly.",
        .caveats = "Global words are in the second-level cache. Hardware may combine additions "
                   "of a warp to one word; the compiler is prevented from doing so.",
        .headline = "operation_rate",
        .place = device::place_kind,
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        choice("space", "where the words are: memory of the device, or of a multiprocessor",
               &Params::space, {{"global", AtomicSpace::global}, {"shared", AtomicSpace::shared}}),
        choice("spread", "threads that add to the same word: all (same), a warp, one (thread)",
               &Params::spread,
               {{"same", Spread::same}, {"warp", Spread::warp}, {"thread", Spread::thread}}),
    };
    /// Sums are compared modulo 2^32.
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return device::fits_device(0); }
    Atomics(const Params& p, const Context& context)
        : device_{device::properties()},
          shape_{atomic_shape(p.space, p.spread, device_.multiprocessors,
                              device_.threads_per_multiprocessor)},
          words_{shape_.words()} {
        context.setting("blocks", shape_.blocks);
        context.setting("block_threads", atomic_threads);
        context.setting("additions_per_thread", shape_.rounds);
        context.setting("words", shape_.words());
        rewind();
    }
    void run() {
        add_atomically(shape_, words_.data(), stream_);
        ++calls_;
    }
    Work work() const { return {.operations = shape_.additions()}; }
    Check verify() const {
        // Without a call, all words would be 0, and right.
        const std::uint64_t calls = calls_ == 0 ? 1 : calls_;
        return words_.check(
            stream_, [&](std::size_t) { return shape_.expected(calls); },
            "every word against the number of additions to it");
    }
    void poison() { words_.set_all_bytes(0xa5, stream_); }
    /// One addition too many.
    void spoil() { words_.add_one(random_bits(37, spoils_++), stream_); }
    void rewind() {
        words_.set_all_bytes(0, stream_);
        calls_ = 0;
    }

private:
    device::Properties device_;
    AtomicShape shape_;
    Words words_;
    std::uint64_t calls_ = 0; // since the last rewind
    std::uint64_t spoils_ = 0;
};

class AtomicLatency : public device::OnDevice {
public:
    struct Params {
        AtomicSpace space = AtomicSpace::global;
    };
    static constexpr Info info{
        .id = "latency.atomic",
        .question = "How long does a thread wait for the result of an atomic addition?",
        .method =
            "One thread adds 4096 times to one 32-bit word in global or shared memory; each "
            "addend depends on the previous result. Timed with device events, launch overhead "
            "excluded. Checked: the word, and the last result.",
        .caveats = "The global word is in the second-level cache, and uncontended: see "
                   "peak.atomic. The kernel launch adds one or two thousandths.",
        .headline = "latency",
        .place = device::place_kind,
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        choice("space", "where the word is: memory of the device, or of a multiprocessor",
               &Params::space, {{"global", AtomicSpace::global}, {"shared", AtomicSpace::shared}}),
    };

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return device::fits_device(0); }
    AtomicLatency(const Params& p, const Context& context)
        : space_{p.space}, results_{chain_results} {
        context.setting("steps", chain_steps);
    }
    void run() { chain_atomically(space_, results_.data(), stream_); }
    Work work() const { return {.steps = chain_steps}; }
    Check verify() const {
        return results_.check(stream_, chain_expected,
                              "the word, and the result of the last addition");
    }
    void poison() { results_.set_all_bytes(0xa5, stream_); }
    void spoil() { results_.add_one(random_bits(38, spoils_++), stream_); }

private:
    AtomicSpace space_;
    Words results_;
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark atomics = define<Atomics>();
extern constinit const assay_benchmark atomic_latency = define<AtomicLatency>();

} // namespace assay::peak
