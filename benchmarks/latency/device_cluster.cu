// SPDX-License-Identifier: Apache-2.0
//
// What the multiprocessors of a cluster cost each other: loads of each other's shared memory, and barriers.

#include "device/benchmark.cuh"

#include <bit>

namespace assay::latency {
namespace {

constexpr unsigned most_blocks = 16; // of a cluster, where it need not be portable

/// One block a multiprocessor: it asks for all shared memory that a block may have.
device::Launch whole_multiprocessors(unsigned blocks, unsigned threads, cudaStream_t stream) {
    return {blocks, threads, stream,
            static_cast<std::size_t>(device::properties().shared_bytes_per_block)};
}
template <class Params>
consteval auto cluster_axis(std::int64_t Params::* field) {
    return integer("cluster", "blocks of a cluster, one on each multiprocessor: 2, 4, 8 or 16", "",
                   field, {2, 4, 8, 16}, {2, most_blocks});
}
template <class Kernel>
Fit fits_cluster(Kernel kernel, std::int64_t cluster, unsigned threads) {
    const auto blocks = static_cast<unsigned>(cluster);
    if (Fit fits = Fit::needs(std::has_single_bit(blocks), "a cluster of 2, 4, 8 or 16 blocks");
        !fits)
        return fits;
    if (Fit fits = device::fits_device(16_MiB, 90); !fits) return fits;
    if (device::most_clusters(kernel, whole_multiprocessors(blocks, threads, nullptr), blocks) > 0)
        return Fit::yes();
    return Fit::no("not applicable: this device has no ", cluster,
                   " multiprocessors that may be a cluster");
}

// --- latency.cluster -------------------------------------------------------------------------------------------------

constexpr unsigned threads = 128; // of a block

/// A chain of addresses in the shared memory of all blocks but the first: node n is number n / others of block
/// 1 + n % others, and leads to node n + `stride`. No number of steps that is used here is a multiple of its nodes.
struct Link {
    const Link* next;
};
constexpr unsigned links_of_block = 1000;
constexpr unsigned stride = 7919; // a prime
constexpr unsigned node_after(unsigned steps, unsigned nodes) {
    return static_cast<unsigned>(std::uint64_t{steps} * stride % nodes);
}

/// `places`: where the shared memory of each block is for the first one.
__global__ void chase(unsigned others, const Link** places, unsigned steps, unsigned* end) {
    auto* const links = device::dynamic_shared<Link>();
    const unsigned rank = device::cluster_rank();
    if (rank == 0 && threadIdx.x <= others)
        places[threadIdx.x] = device::shared_of(links, threadIdx.x);
    device::sync_cluster();
    for (unsigned i = threadIdx.x; i < links_of_block && rank > 0; i += blockDim.x) {
        const unsigned next = (i * others + rank - 1 + stride) % (links_of_block * others);
        links[i].next = places[1 + next % others] + next / others;
    }
    device::sync_cluster();
    if (rank == 0 && threadIdx.x == 0) {
        const Link* at = places[1];
        for (unsigned i = 0; i < steps; i += 8)
#pragma unroll
            for (int k = 0; k < 8; ++k) at = at->next;
        unsigned node = ~0U;
        for (unsigned block = 1; block <= others; ++block) {
            const auto away = reinterpret_cast<std::uintptr_t>(at) -
                              reinterpret_cast<std::uintptr_t>(places[block]);
            if (away < sizeof(Link) * links_of_block)
                node = static_cast<unsigned>(away / sizeof(Link)) * others + block - 1;
        }
        *end = node;
    }
    device::sync_cluster(); // until then nobody ends: others read its memory
}

/// At the end of a call each block shows words to another one, which reads them between two barriers.
constexpr unsigned shown_words = 8;
ASSAY_HOST_DEVICE unsigned shown(unsigned rank, unsigned round) {
    return static_cast<unsigned>(random_bits(22, round * most_blocks + rank));
}
ASSAY_HOST_DEVICE unsigned seen_with(unsigned before, unsigned word) { return before * 31 + word; }

__global__ void meet(unsigned cluster, unsigned steps, unsigned* seen) {
    auto* const own = device::dynamic_shared<unsigned>();
    const unsigned rank = device::cluster_rank();
    for (unsigned i = 0; i < steps; i += 8)
#pragma unroll
        for (int k = 0; k < 8; ++k) device::sync_cluster();
    const volatile unsigned* const other = device::shared_of(own, (rank + 1) % cluster);
    unsigned all = 0;
    for (unsigned round = 0; round < shown_words; ++round) {
        if (threadIdx.x == 0) *own = shown(rank, round);
        device::sync_cluster();
        if (threadIdx.x == 0) all = seen_with(all, *other);
        device::sync_cluster();
    }
    if (threadIdx.x == 0) seen[rank] = all;
}

enum class Operation : std::uint8_t { load, barrier };

class Cluster : public device::OnDevice {
public:
    struct Params {
        Operation operation = Operation::load;
        std::int64_t cluster = 2;
    };
    static constexpr Info info{
        .id = "latency.cluster",
        .question = "How long do a load from another multiprocessor's shared memory and a barrier "
                    "take in a cluster of this device?",
        .method =
            "One cluster, one block per multiprocessor. load: one thread of the first block "
            "follows a chain of addresses through the shared memory of all other blocks "
            "(mapa), 16384 dependent loads per call; checked: the chain ends "
            "where it should, and the first block's own memory holds none of it. barrier: 128 "
            "threads of each block arrive and wait (barrier.cluster), 4096 times per call; "
            "checked: after each of the last 8 pairs each block has read what its neighbour wrote.",
        .caveats =
            "The other multiprocessors are idle. Compare load with memory.latency through "
            "shared (the own multiprocessor) and l2. Clusters of 16 blocks are not portable.",
        .headline = "latency",
        .place = device::place_kind,
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        choice("operation", "load (from the other blocks' shared memory), barrier",
               &Params::operation,
               {Name{"load", Operation::load}, Name{"barrier", Operation::barrier}}),
        cluster_axis(&Params::cluster),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return p.operation == Operation::load ? fits_cluster(chase, p.cluster, threads)
                                              : fits_cluster(meet, p.cluster, threads);
    }

    Cluster(const Params& p, const Context& context)
        : operation_{p.operation}, cluster_{static_cast<unsigned>(p.cluster)},
          how_{whole_multiprocessors(cluster_, threads, stream_.get())}, places_{most_blocks},
          results_{cluster_} {
        const auto found = device::properties();
        steps_ =
            operation_ == Operation::load ? found.times(16384U, 512U) : found.times(4096U, 64U);
        if (operation_ == Operation::load)
            device::most_clusters(chase, how_, cluster_);
        else
            device::most_clusters(meet, how_, cluster_);
        context.setting("block_threads", threads);
        context.setting("steps", work().steps);
    }

    void run() {
        if (operation_ == Operation::load)
            device::launch_clusters(chase, how_, cluster_, cluster_ - 1, places_.data(), steps_,
                                    results_.data());
        else
            device::launch_clusters(meet, how_, cluster_, cluster_, steps_, results_.data());
    }
    Work work() const {
        const bool is_barrier = operation_ == Operation::barrier;
        return {.steps = static_cast<double>(steps_ + (is_barrier ? 2 * shown_words : 0))};
    }
    Check verify() const {
        const auto found = device::to_host(results_, stream_);
        return check_each(
            operation_ == Operation::load ? 1 : cluster_,
            [&](std::size_t rank) { return found[rank] == expected(rank) ? 0.0 : 1.0; }, 0,
            operation_ == Operation::load ? "the node where the chase ended"
                                          : "the words that each block read after barriers");
    }
    void poison() { device::set_bytes(results_, 0xff, stream_); }
    /// One bit of what must come out.
    void spoil() {
        device::flip_bit(results_.data(), operation_ == Operation::load ? 1 : cluster_,
                         spoils_.next(), stream_);
    }

private:
    unsigned expected(std::size_t rank) const {
        if (operation_ == Operation::load)
            return node_after(steps_, links_of_block * (cluster_ - 1));
        unsigned all = 0;
        for (unsigned round = 0; round < shown_words; ++round)
            all = seen_with(all, shown((static_cast<unsigned>(rank) + 1) % cluster_, round));
        return all;
    }

    Operation operation_;
    unsigned cluster_;
    device::Launch how_;
    unsigned steps_ = 0;
    device::Buffer<const Link*> places_;
    device::Buffer<unsigned> results_; // where the chase ended, or what each block saw
    Picks spoils_{22};
};

// --- memory.cluster --------------------------------------------------------------------------------------------------

constexpr unsigned reading_threads = 1024;
constexpr unsigned vectors = 4096; // of 16 bytes in a block's memory

/// Passes over a block's memory; each other block of the cluster has its turn equally often.
struct Reading {
    unsigned cluster;
    unsigned passes; ///< a multiple of 1, 3, 7 and 15

    ASSAY_HOST_DEVICE static unsigned word(std::uint64_t i) {
        return static_cast<unsigned>(random_bits(23, i));
    }
    /// The sum of a thread, modulo 2^32.
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t thread) const {
        const std::uint64_t own = thread / reading_threads;
        const std::uint64_t first = own / cluster * cluster;
        std::uint32_t sum = 0;
        for (std::uint64_t block = first; block < first + cluster; ++block)
            for (std::uint64_t i = thread % reading_threads; i < vectors && block != own;
                 i += reading_threads)
                for (unsigned k = 0; k < 4; ++k) sum += word((block * vectors + i) * 4 + k);
        return sum * (passes / (cluster - 1));
    }
};

__global__ void __launch_bounds__(reading_threads) read(Reading how, std::uint32_t* sums) {
    auto* const words = device::dynamic_shared<unsigned>();
    for (unsigned i = threadIdx.x; i < 4 * vectors; i += reading_threads)
        words[i] = Reading::word(static_cast<std::uint64_t>(blockIdx.x) * 4 * vectors + i);
    device::sync_cluster();
    const unsigned rank = device::cluster_rank();
    std::uint32_t sum = 0;
    unsigned away = 1;
    for (unsigned pass = 0; pass < how.passes; ++pass) {
        const auto* const from =
            reinterpret_cast<const uint4*>(device::shared_of(words, (rank + away) % how.cluster));
        if (++away == how.cluster) away = 1;
        uint4 got[vectors / reading_threads];
#pragma unroll
        for (unsigned k = 0; k < vectors / reading_threads; ++k)
            got[k] = from[threadIdx.x + reading_threads * k];
#pragma unroll
        for (const uint4& four : got) sum += four.x + four.y + four.z + four.w;
    }
    sums[static_cast<std::uint64_t>(blockIdx.x) * reading_threads + threadIdx.x] = sum;
    device::sync_cluster(); // until then nobody ends: others read its memory
}

class ClusterMemory : public device::OnDevice {
public:
    struct Params {
        std::int64_t cluster = 2;
    };
    static constexpr Info info{
        .id = "memory.cluster",
        .question = "How fast do the multiprocessors of a cluster read each other's shared memory?",
        .method = "As many clusters as the device runs at once, one block of 1024 threads per "
                  "multiprocessor. Each block reads the 64 KiB of every other block of its cluster "
                  "in turns, by four 16-byte loads per thread (mapa). Data is "
                  "random; the sum of every thread is recomputed on the device.",
        .caveats = "Counts the bytes that threads request, over all clusters: where clusters of a "
                   "size do not fill the device, the rest is idle. Compare with memory.banks (the "
                   "own shared memory) and memory.hierarchy through l2.",
        .headline = "bandwidth",
        .place = device::place_kind,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{cluster_axis(&Params::cluster)};

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return fits_cluster(read, p.cluster, reading_threads);
    }

    ClusterMemory(const Params& p, const Context& context)
        : reading_{static_cast<unsigned>(p.cluster), device::properties().times(1050U, 105U)},
          how_{whole_multiprocessors(reading_.cluster, reading_threads, stream_.get())} {
        how_.blocks.x = reading_.cluster *
                        static_cast<unsigned>(device::most_clusters(read, how_, reading_.cluster));
        sums_ = device::Buffer<std::uint32_t>{std::size_t{how_.blocks.x} * reading_threads};
        context.setting("blocks", how_.blocks.x);
        context.setting("block_threads", reading_threads);
    }

    void run() { device::launch_clusters(read, how_, reading_.cluster, reading_, sums_.data()); }
    Work work() const { return {.bytes = 16.0 * vectors * reading_.passes * how_.blocks.x}; }
    Check verify() const { return device::check_sums(stream_, sums_, reading_); }
    void poison() { device::poison_sums(stream_, sums_, reading_); }
    /// One bit of one sum.
    void spoil() { device::flip_bit(sums_, spoils_.next(), stream_); }

private:
    Reading reading_;
    device::Launch how_;
    device::Buffer<std::uint32_t> sums_; // of the threads
    Picks spoils_{23};
};

} // namespace

extern constinit const assay_benchmark cluster_latency = define<Cluster>();
extern constinit const assay_benchmark cluster_memory = define<ClusterMemory>();

} // namespace assay::latency
