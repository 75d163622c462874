// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "memory/device_stream_shapes.hpp"
#include "memory/stream_data.hpp"

namespace assay::memory {
namespace {

// Loads and stores are 16 bytes wide; a thread has several of them in flight, which is what fills the memory of
// recent devices.

struct StreamArrays {
    double* out;
    const double* left;
    const double* right;
    double* partial; ///< one for each block of a reduction
    double* sum;
    std::uint64_t count; ///< a multiple of stream_tile
};

/// One element; std::fma so that the check computes the very same.
template <Kernel kernel>
__device__ double value(double out, double left, double right, std::uint64_t i) {
    if constexpr (kernel == Kernel::copy) return left;
    if constexpr (kernel == Kernel::scale) return stream_data::scalar * left;
    if constexpr (kernel == Kernel::add) return left + right;
    if constexpr (kernel == Kernel::triad) return std::fma(stream_data::scalar, right, left);
    if constexpr (kernel == Kernel::write) return stream_data::written(i);
    return std::fma(stream_data::scalar, right, out + left); // nstream
}

template <bool evict_first>
__device__ double2 load(const double2* from) {
    if constexpr (evict_first) return __ldcs(from);
    return *from;
}
template <bool evict_first>
__device__ void store(double2* to, const double2& value) {
    if constexpr (evict_first)
        __stcs(to, value);
    else
        *to = value;
}

template <Kernel kernel, unsigned unroll, bool evict_first>
__global__ void map(StreamArrays arrays) {
    auto* out = reinterpret_cast<double2*>(arrays.out);
    const auto* left = reinterpret_cast<const double2*>(arrays.left);
    const auto* right = reinterpret_cast<const double2*>(arrays.right);
    double2 o[unroll] = {};
    double2 l[unroll] = {};
    double2 r[unroll] = {};
#pragma unroll
    for (unsigned k = 0; k < unroll; ++k) {
        const std::uint64_t at = map_vector(blockIdx.x, threadIdx.x, k, blockDim.x, unroll);
        if constexpr (kernel == Kernel::nstream) o[k] = load<evict_first>(out + at);
        if constexpr (kernel != Kernel::write) l[k] = load<evict_first>(left + at);
        if constexpr (reads_right(kernel)) r[k] = load<evict_first>(right + at);
    }
#pragma unroll
    for (unsigned k = 0; k < unroll; ++k) {
        const std::uint64_t at = map_vector(blockIdx.x, threadIdx.x, k, blockDim.x, unroll);
        store<evict_first>(out + at, {value<kernel>(o[k].x, l[k].x, r[k].x, 2 * at),
                                      value<kernel>(o[k].y, l[k].y, r[k].y, 2 * at + 1)});
    }
}

/// The sum over the threads of a block, in its first thread.
__device__ double sum_of_block(double own) {
    using device::warp_lanes;
    __shared__ double warps[warp_lanes];
    own = device::sum_of_warp(own);
    if (device::lane() == 0) warps[device::warp()] = own;
    __syncthreads();
    own = threadIdx.x < blockDim.x / warp_lanes ? warps[threadIdx.x] : 0.0;
    return device::warp() == 0 ? device::sum_of_warp(own) : own;
}

/// Addition of one vector; a functor, because a lambda of a kernel is for devices alone.
template <Kernel kernel>
struct Take {
    const double2* left;
    const double2* right;
    double* sums;
    ASSAY_HOST_DEVICE void operator()(unsigned k, std::uint64_t at) const {
        const double2 l = left[at];
        if constexpr (kernel == Kernel::dot) {
            const double2 r = right[at];
            sums[k] = std::fma(l.x, r.x, sums[k]);
            sums[k] = std::fma(l.y, r.y, sums[k]);
        } else {
            sums[k] += l.x + l.y;
        }
    }
};

template <Kernel kernel>
__global__ void reduce(StreamArrays arrays) {
    double sums[4] = {};
    const Take<kernel> take{reinterpret_cast<const double2*>(arrays.left),
                            reinterpret_cast<const double2*>(arrays.right), sums};
    walk_vectors(static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                 static_cast<std::uint64_t>(gridDim.x) * blockDim.x, arrays.count / 2, take);
    const double sum = sum_of_block((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (threadIdx.x == 0) arrays.partial[blockIdx.x] = sum;
}

__global__ void add_partial(const double* partial, unsigned count, double* sum) {
    double own = 0;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) own += partial[i];
    own = sum_of_block(own);
    if (threadIdx.x == 0) *sum = own;
}

/// How far an element is from what must come out, relative to it.
struct Deviation {
    Kernel kernel;
    const double* out;
    std::uint64_t calls;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const double wanted = stream_data::expected(kernel, i, calls, true);
        return out[i] == wanted ? 0.0 : (out[i] - wanted) / wanted;
    }
};

/// Each thread's share of the exact sum.
struct ExactShare {
    Kernel kernel;
    std::uint64_t count;
    std::uint64_t shares;
    double* out; // two numbers for each share
    ASSAY_HOST_DEVICE void operator()(std::uint64_t share) const {
        stream_data::CompensatedSum sum;
        for (std::uint64_t i = share; i < count; i += shares) {
            if (kernel == Kernel::dot)
                sum.add_product(stream_data::left(i), stream_data::right(i));
            else
                sum.add(stream_data::left(i));
        }
        out[2 * share] = sum.sum;
        out[2 * share + 1] = sum.error;
    }
};

template <Kernel kernel, bool evict_first>
void launch_hinted(const StreamArrays& arrays, const StreamShape& shape, cudaStream_t stream) {
    const auto loop = shape.unroll == 1   ? map<kernel, 1, evict_first>
                      : shape.unroll == 2 ? map<kernel, 2, evict_first>
                                          : map<kernel, 4, evict_first>;
    device::launch(loop, {shape.blocks, shape.threads, stream}, arrays);
}
template <Kernel kernel>
void launch_map(const StreamArrays& arrays, const StreamShape& shape, cudaStream_t stream) {
    shape.evict_first ? launch_hinted<kernel, true>(arrays, shape, stream)
                      : launch_hinted<kernel, false>(arrays, shape, stream);
}
template <Kernel kernel>
void launch_reduce(const StreamArrays& arrays, const StreamShape& shape, cudaStream_t stream) {
    device::launch(reduce<kernel>, {shape.blocks, shape.threads, stream}, arrays);
    device::launch(add_partial, {1, 1024, stream}, arrays.partial, shape.blocks, arrays.sum);
}

/// Queues one pass; in the order of Kernel.
constexpr std::array launches{launch_map<Kernel::copy>,    launch_map<Kernel::scale>,
                              launch_map<Kernel::add>,     launch_map<Kernel::triad>,
                              launch_reduce<Kernel::dot>,  launch_map<Kernel::nstream>,
                              launch_reduce<Kernel::read>, launch_map<Kernel::write>};

/// Expected result of dot or read, from the random seeds alone.
double exact_sum(Kernel kernel, std::uint64_t count, const device::Stream& stream) {
    constexpr std::uint64_t shares = 1U << 16U;
    const device::Buffer<double> found{2 * shares};
    device::on_each(stream, shares, ExactShare{kernel, count, shares, found.data()});
    device::check_launches();
    stream_data::CompensatedSum sum;
    for (const double part : device::to_host(found, stream)) sum.add(part);
    return sum.value();
}

class DeviceStream : public device::OnDevice {
public:
    struct Params {
        Kernel kernel = Kernel::triad;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.stream",
        .question = "What is the sustained memory bandwidth of this device?",
        .method = "BabelStream's loops (copy, scale, add, triad, dot, nstream), and read and write "
                  "alone, on fp64 arrays of uniform random numbers, each of at least 1 GiB and "
                  "four times the second-level cache. The fastest number and size of blocks, loads "
                  "per thread and cache hint in a short trial are used. Every element is compared "
                  "bit for bit on the device with its recomputation from the random seed; dot and "
                  "read with a compensated sum, within u*(sqrt(n)+16).",
        .caveats = "Counts the bytes the loop requests. Footprints that fit in the second-level "
                   "cache measure that cache.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .trial_bytes = 512_KiB,
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        choice("kernel",
               "loop: copy a=b, scale a=s*b, add a=b+c, triad a=b+s*c, dot, nstream a+=b+s*c, "
               "read, write",
               &Params::kernel,
               {Name{"copy", Kernel::copy}, Name{"scale", Kernel::scale}, Name{"add", Kernel::add},
                Name{"triad", Kernel::triad}, Name{"dot", Kernel::dot},
                Name{"nstream", Kernel::nstream}, Name{"read", Kernel::read},
                Name{"write", Kernel::write}}),
        footprint_axis("bytes over all arrays", &Params::footprint, {Symbol::beyond_cache},
                       {64_KiB, 16_TiB}),
    };
    /// nstream adds less than 6 in a call, so that 2^20 calls stay far from every limit of fp64.
    static constexpr std::uint64_t safe_calls = 1U << 20U;
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_footprint(p.footprint, arrays_of(p.kernel) * 256_MiB);
    }

    DeviceStream(const Params& p, const Context& context)
        : kernel_{p.kernel}, device_{device::properties()}, count_{elements_of(p, device_)},
          out_{is_sum(kernel_) ? 0 : count_}, left_{kernel_ == Kernel::write ? 0 : count_},
          right_{reads_right(kernel_) ? count_ : 0}, partial_{most_blocks(device_)}, sum_{1} {
        fill(left_, stream_data::left_seed);
        fill(right_, stream_data::right_seed);
        choose_shape();
        device::describe_footprint(footprint_of(kernel_, count_), context);
        context.setting("elements", count_);
        context.setting("blocks", shape_.blocks);
        context.setting("block_threads", shape_.threads);
        context.setting("loads_per_thread", shape_.unroll);
        context.setting("cache_hint", shape_.evict_first ? "evict_first" : "none");
    }

    void run() {
        const StreamArrays arrays{.out = out_.data(),
                                  .left = left_.data(),
                                  .right = right_.data(),
                                  .partial = partial_.data(),
                                  .sum = sum_.data(),
                                  .count = count_};
        launches.at(static_cast<std::size_t>(kernel_))(arrays, shape_, stream_.get());
        ++calls_;
    }

    Work work() const { return work_of(kernel_, count_); }

    Check verify() const {
        if (is_sum(kernel_))
            return check_sum(device::get(sum_.data(), stream_), exact_sum(kernel_, count_, stream_),
                             count_);
        if (Check calls = check_calls(kernel_, calls_); !calls.passed) return calls;
        return device::check_each(
            stream_, count_, Deviation{kernel_, out_.data(), calls_}, 0,
            "every element recomputed from the random seed on the device, bit for bit");
    }

    void poison() {
        if (!is_sum(kernel_)) device::set_bytes(out_, 0xff, stream_); // NaN
        device::set_bytes(sum_, 0xff, stream_);
        is_initial_ = false;
    }

    Outputs outputs() const {
        return {is_sum(kernel_) ? device::output(sum_, stream_) : device::output(out_, stream_)};
    }
    /// One bit of one element; of a sum, twice the bound.
    void spoil() {
        double* at = is_sum(kernel_) ? sum_.data() : out_.data() + spoils_.next() % count_;
        device::change(at, stream_,
                       [this](double value) { return spoilt(kernel_, value, count_); });
        is_initial_ = false;
    }

    /// Only nstream reads what it writes; elsewhere there is nothing to restore.
    void rewind() {
        const bool is_done = is_initial_ && calls_ == 0;
        calls_ = 0;
        if (kernel_ != Kernel::nstream || is_done) return;
        fill(out_, stream_data::out_seed);
        is_initial_ = true;
    }

private:
    void fill(const device::Buffer<double>& array, std::uint64_t seed) const {
        device::fill_uniform(stream_, array, seed, stream_data::low, stream_data::high);
    }
    static std::size_t elements_of(const Params& p, const device::Properties& found) {
        const std::int64_t arrays = arrays_of(p.kernel);
        return stream_elements(device::footprint(p.footprint, arrays, found) / arrays);
    }
    static std::size_t most_blocks(const device::Properties& found) {
        std::size_t most = 0;
        for (const StreamShape& shape : reduction_shapes(found.multiprocessors))
            most = std::max(most, static_cast<std::size_t>(shape.blocks));
        return most;
    }

    /// The fastest of a handful of launch shapes, by trial on these very arrays.
    void choose_shape() {
        const auto shapes =
            is_sum(kernel_) ? reduction_shapes(device_.multiprocessors) : map_shapes(count_);
        shape_ = device::fastest_of(clock_, shapes, [&](const StreamShape& shape) {
            shape_ = shape;
            run();
        });
        is_initial_ = false;
        rewind();
    }

    Kernel kernel_;
    device::Properties device_;
    std::size_t count_; // elements of each array
    device::Buffer<double> out_;
    device::Buffer<double> left_;
    device::Buffer<double> right_;
    device::Buffer<double> partial_; // a sum for each block
    device::Buffer<double> sum_;
    StreamShape shape_;
    bool is_initial_ = false; // out_ holds its random start values
    std::uint64_t calls_ = 0; // since the last rewind
    Picks spoils_{stream_data::spoil_seed};
};

} // namespace

extern constinit const assay_benchmark device_stream = define<DeviceStream>();

} // namespace assay::memory
