// SPDX-License-Identifier: Apache-2.0
//
// How far the second level cache is from each multiprocessor: large ones have two partitions, and a line is in one of
// them.

#include "device/benchmark.cuh"
#include "latency/partitions.hpp"
#include "memory/chain.hpp"
#include "memory/device_levels.hpp"

namespace assay::latency {
namespace {

enum class Access : std::uint8_t { load, atomic };

constexpr unsigned nodes_of_line = 8;
constexpr std::uint64_t lines = 2048; // of 128 bytes
constexpr std::uint64_t nodes = lines * nodes_of_line;
using Node = memory::ChainNode<memory::device_line / nodes_of_line>;
static_assert(sizeof(Node) * nodes_of_line == memory::device_line);

/// The chain walks through all nodes of a line, then to the next line of a random order.
struct Order {
    memory::Shuffle line{lines, 24};
    ASSAY_HOST_DEVICE std::uint64_t operator()(std::uint64_t rank) const {
        return line(rank / nodes_of_line % lines) * nodes_of_line + rank % nodes_of_line;
    }
};
struct LinkNode {
    Node* to;
    Order order;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t rank) const {
        to[order(rank)] = {to + order(rank + 1), rank};
    }
};

/// Result of one multiprocessor.
struct Walk {
    std::uint64_t from; ///< rank of the node where it began
    std::uint64_t end;
    unsigned long long nanoseconds;
    unsigned cycles; ///< in them
    unsigned multiprocessor;
};

template <Access access>
__device__ Node* next_of(Node* node) {
    return access == Access::load ? device::load_through_l2(&node->next)
                                  : device::load_by_atomic(&node->next);
}

/// One thread on each multiprocessor visits lines, and keeps the fewest cycles of each after the first time.
template <Access access>
__global__ void visit(Node* all, Order order, std::uint64_t visits, Walk* walks, unsigned* fewest) {
    auto* const least = device::dynamic_shared<unsigned>();
    for (std::uint64_t i = threadIdx.x; i < lines; i += blockDim.x) least[i] = ~0U;
    __syncthreads();
    if (threadIdx.x == 0) {
        std::uint64_t line = blockIdx.x * lines / gridDim.x;
        Node* node = all + order(line * nodes_of_line);
        Walk walk{.from = node->rank, .multiprocessor = device::multiprocessor()};
        walk.nanoseconds = device::nanoseconds();
        const unsigned first = device::cycles();
        for (std::uint64_t i = 0; i < visits; ++i) {
            const unsigned before = device::cycles();
#pragma unroll
            for (unsigned k = 0; k < nodes_of_line; ++k) node = next_of<access>(node);
            if (node == nullptr) break; // never; the clock is read after the last load has come
            const unsigned took = device::cycles() - before;
            if (i >= lines && took < least[line]) least[line] = took;
            if (++line == lines) line = 0;
        }
        walk.cycles = device::cycles() - first;
        walk.nanoseconds = device::nanoseconds() - walk.nanoseconds;
        walk.end = node->rank;
        walks[blockIdx.x] = walk;
    }
    __syncthreads();
    for (std::uint64_t i = threadIdx.x; i < lines; i += blockDim.x)
        fewest[blockIdx.x * lines + i] = least[i];
}

/// Bandwidth of hits: eight threads read a line, all lines between two of a list, again and again.
constexpr unsigned reading_threads = 1024;
__global__ void __launch_bounds__(reading_threads)
    read_lines(const Node* all, const unsigned* list, const Lists::Range* of_multiprocessor,
               unsigned passes, unsigned long long* sum) {
    const Lists::Range range = of_multiprocessor[device::multiprocessor()];
    unsigned long long own = 0;
    for (unsigned pass = 0; pass < passes; ++pass)
#pragma unroll 8
        for (unsigned i = range.first + threadIdx.x / nodes_of_line; i < range.last;
             i += reading_threads / nodes_of_line) {
            const auto* const node = all + list[i] * nodes_of_line + threadIdx.x % nodes_of_line;
            const ulonglong2 two = __ldcg(reinterpret_cast<const ulonglong2*>(node));
            own += two.y + (two.x & 1); // the lowest bit of an address: both words are loaded
        }
    atomicAdd(sum, own);
}

class DeviceL2 : public device::OnDevice {
public:
    struct Params {
        Access access = Access::load;
    };
    static constexpr Info info{
        .id = "latency.l2",
        .question = "Does the second-level cache of this device have a near and a far partition, "
                    "and what do hits in each cost?",
        .method =
            "One thread on every multiprocessor chases pointers through 2048 lines of 128 bytes "
            "that all multiprocessors share, in random order, 8 dependent loads (past the "
            "first-level cache) or 64-bit atomic maxima per line. The fewest cycles per line of "
            "three passes after a first one make a matrix of multiprocessors and lines. There are "
            "two partitions if one pattern of near and far explains half of the variance that the "
            "means of rows and columns leave. Checked: every link of the chain, where each walk "
            "ended, and that every line was timed.",
        .caveats =
            "latency is the mean with the loop around the loads; near and far latency are those "
            "of single hits and equal where there is one partition, far_share is 0 then. Devices "
            "that keep a second copy of far lines in the near partition show one for load: "
            "atomic shows where a line's own partition is. Near and far bandwidth are of loads of "
            "16 bytes by all multiprocessors at once, each from its near or its far lines. Table: "
            "mean latency of each multiprocessor to the lines of each partition.",
        .headline = "latency",
        .place = device::place_kind,
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        choice("access", "load, or atomic (the maximum with 0)", &Params::access,
               {Name{"load", Access::load}, Name{"atomic", Access::atomic}}),
    };

    static Fit fit(const Params& /*p*/, const Machine& /*machine*/) {
        return device::fits_device(16_MiB);
    }

    DeviceL2(const Params& p, const Context& context)
        : access_{p.access}, blocks_{static_cast<unsigned>(device::properties().multiprocessors)},
          nodes_{nodes}, walks_{blocks_}, fewest_{blocks_ * lines} {
        // More than half of a multiprocessor's shared memory, so that there is one block on each.
        shared_bytes_ = static_cast<std::size_t>(device::properties().shared_bytes_per_block);
        device::check(cudaFuncSetAttribute(loop(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared_bytes_)));
        device::for_each_now(stream_, nodes, LinkNode{nodes_.data(), order_});
        context.setting("lines", lines);
        context.setting("blocks", blocks_);
    }

    void run() {
        device::launch(loop(), {blocks_, 128, stream_.get(), shared_bytes_}, nodes_.data(), order_,
                       visits, walks_.data(), fewest_.data());
    }
    Work work() const { return {.steps = static_cast<double>(visits * nodes_of_line)}; }

    Check verify() const {
        const Check links = device::check_each(
            stream_, nodes, memory::WrongLink<Node>{nodes_.data(), nodes}, 0, memory::links_method);
        if (!links.passed) return links;
        const auto walks = device::to_host(walks_, stream_);
        const Check ends = check_each(
            blocks_,
            [&](std::size_t i) {
                const std::uint64_t from = i * lines / blocks_ * nodes_of_line;
                const std::uint64_t end = (from + visits * nodes_of_line) % nodes;
                return walks[i].from == from && walks[i].end == end ? 0.0 : 1.0;
            },
            0, memory::chase_method);
        if (!ends.passed) return ends;
        const auto fewest = device::to_host(fewest_, stream_);
        return check_each(
            fewest.size(), [&](std::size_t i) { return fewest[i] == ~0U ? 1.0 : 0.0; }, 0,
            "every link, the end of each chase, and a time for every line");
    }
    void poison() {
        device::set_bytes(walks_, 0xff, stream_);
        device::set_bytes(fewest_, 0xff, stream_);
    }
    /// One walk ends a node too far.
    void spoil() {
        device::change(walks_.data() + spoils_.next() % blocks_, stream_, [](Walk walk) {
            ++walk.end;
            return walk;
        });
    }

    void metrics(Metrics& to) {
        const auto walks = device::to_host(walks_, stream_);
        double cycles = 0;
        double seconds = 0;
        for (const Walk& walk : walks) {
            cycles += walk.cycles;
            seconds += 1e-9 * static_cast<double>(walk.nanoseconds);
        }
        std::vector<float> latencies; // s
        for (const unsigned each : device::to_host(fewest_, stream_))
            latencies.push_back(static_cast<float>(each * seconds / cycles / nodes_of_line));
        const Partitions found = partitions_of(latencies, lines);
        to.add("near_latency", found.near);
        to.add("far_latency", found.far);
        to.add("far_share", found.far_share);
        to.add("near_bandwidth", bandwidth(found, walks, false));
        to.add("far_bandwidth", bandwidth(found, walks, true));
        to.add(table(found, walks, latencies));
    }

private:
    /// The first pass brings the lines; the last visit ends at another line than the first began with.
    static constexpr std::uint64_t visits = 4 * lines + 1;

    auto loop() const -> void (*)(Node*, Order, std::uint64_t, Walk*, unsigned*) {
        return access_ == Access::load ? visit<Access::load> : visit<Access::atomic>;
    }

    /// Reads the near or the far lines of each multiprocessor; where there is one partition, all.
    double bandwidth(const Partitions& found, const std::vector<Walk>& walks, bool far) {
        const Lists lists = lists_of(found, far);
        std::vector<unsigned> list;
        for (const unsigned rank : lists.columns)
            list.push_back(static_cast<unsigned>(order_.line(rank)));
        std::vector<Lists::Range> ranges;
        std::uint64_t read = 0; // lines
        std::uint64_t sum = 0;  // of the ranks of their nodes
        for (std::size_t i = 0; i < walks.size(); ++i) {
            const Lists::Range range = lists.of_row[i];
            ranges.resize(std::max<std::size_t>(ranges.size(), walks[i].multiprocessor + 1));
            ranges[walks[i].multiprocessor] = range;
            read += range.last - range.first;
            for (unsigned k = range.first; k < range.last; ++k)
                sum += nodes_of_line * nodes_of_line * lists.columns[k] +
                       nodes_of_line * (nodes_of_line - 1) / 2;
        }
        const device::Buffer<unsigned> device_list{list.size()};
        const device::Buffer<Lists::Range> device_ranges{ranges.size()};
        const device::Buffer<unsigned long long> found_sum{1};
        device::to_device(std::span<const unsigned>{list}, device_list.data(), stream_);
        device::to_device(std::span<const Lists::Range>{ranges}, device_ranges.data(), stream_);
        device::set_bytes(found_sum, 0, stream_);
        const unsigned passes = device::properties().times(512U, 2U);
        constexpr std::uint64_t calls = 4;
        const auto queue = [&] {
            device::launch(read_lines, {blocks_, reading_threads, stream_.get(), shared_bytes_},
                           nodes_.data(), device_list.data(), device_ranges.data(), passes,
                           found_sum.data());
        };
        device::check(cudaFuncSetAttribute(read_lines, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shared_bytes_)));
        queue(); // loads the kernel
        const double seconds = clock_.seconds(calls, queue) / calls;
        if (device::get(found_sum.data(), stream_) != sum * passes * (calls + 1))
            throw device::Error{"a wrong sum of lines"};
        return static_cast<double>(read * passes * memory::device_line) / seconds;
    }

    /// Mean latency of each multiprocessor to the lines of each partition.
    static Table table(const Partitions& found, const std::vector<Walk>& walks,
                       const std::vector<float>& latencies) {
        Table made{.metric = "latency",
                   .row_title = "SM",
                   .column_title = "partition",
                   .rows = {},
                   .columns = {"0"},
                   .values = means_of(found, latencies)};
        if (found.are_two) made.columns.emplace_back("1");
        for (const Walk& walk : walks) made.rows.push_back(joined(walk.multiprocessor));
        return made;
    }

    Access access_;
    unsigned blocks_;
    Order order_;
    std::size_t shared_bytes_ = 0;
    device::Buffer<Node> nodes_;
    device::Buffer<Walk> walks_;
    device::Buffer<unsigned> fewest_; // cycles, of each multiprocessor for each line
    Picks spoils_{24};
};

} // namespace

extern constinit const assay_benchmark device_l2 = define<DeviceL2>();

} // namespace assay::latency
