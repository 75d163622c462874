// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "stencil/window_data.hpp"
#include "stencil/window_tiles.hpp"

namespace assay::stencil {
namespace {

constexpr unsigned most_threads = 512;

template <class T>
struct Prefix {
    T before; ///< the sum over the threads before this one
    T all;    ///< and over all threads of the block
};

/// By every thread of a block, whose threads are whole warps.
template <class T>
__device__ Prefix<T> prefix_of_block(T own) {
    using device::warp_lanes;
    __shared__ T warps[most_threads / warp_lanes];
    const unsigned lane = device::lane();
    const unsigned warp = device::warp();
    const T inclusive = device::sum_up_to_lane(own);
    const T shifted = __shfl_up_sync(device::every_lane, inclusive, 1);
    __syncthreads(); // everybody has read what the call before left in `warps`
    if (lane == warp_lanes - 1) warps[warp] = inclusive;
    __syncthreads();
    Prefix<T> prefix{0, 0};
    for (unsigned i = 0; i < blockDim.x / warp_lanes; ++i) {
        if (i < warp) prefix.before += warps[i];
        prefix.all += warps[i];
    }
    if (lane > 0) prefix.before += shifted;
    return prefix;
}

template <class T, unsigned items>
__global__ void __launch_bounds__(most_threads) moving(WindowTask<T> task, std::size_t steps) {
    const std::size_t at_once = std::size_t{blockDim.x} * items;
    const std::size_t first = blockIdx.x * at_once * steps;
    T sum = prefix_of_block(task.share(first, threadIdx.x, blockDim.x)).all;
    for (std::size_t step = 0; step < steps; ++step) {
        const std::size_t at = first + step * at_once + std::size_t{threadIdx.x} * items;
        const auto rise = task.template rise<items>(at);
        const Prefix<T> prefix = prefix_of_block(rise.values[items]);
        task.template finish<items>(at, sum + prefix.before, rise);
        sum += prefix.all;
    }
}

template <class T, unsigned items>
__global__ void __launch_bounds__(most_threads) direct(WindowTask<T> task) {
    task.template direct<items>((std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * items);
}

/// The worst of a run of means.
template <class T>
struct WorstOfRun {
    WindowTask<T> task;
    std::size_t run;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        const std::size_t first = i * run;
        const std::size_t last = first + run < task.count ? first + run : task.count;
        return window_data::worst_of(task.in, task.out, first, last, task.window);
    }
};

/// Means of a series of so many bytes, which has as many elements.
template <class T>
std::size_t means_of(std::int64_t footprint) {
    const auto granules = static_cast<std::size_t>(footprint) / (2 * sizeof(T) * window_granule<T>);
    return (granules == 0 ? 1 : granules) * window_granule<T>;
}

/// A series of one precision and its means, on the device.
template <class T>
class Series {
public:
    Series(std::int64_t window, std::int64_t footprint, device::Place& place,
           const Context& context)
        : window_{static_cast<std::size_t>(window)}, place_{place}, count_{means_of<T>(footprint)},
          in_{count_ + window_}, out_{count_} {
        device::fill_uniform(place.stream, in_, window_data::in_seed, window_data::low<T>,
                             window_data::high<T>);
        poison();
        shape_ = device::fastest_of(place.clock, window_shapes(sizeof(T)),
                                    [this](const WindowShape& shape) { launch(shape); });
        context.setting("elements", count_);
        context.setting("footprint", 2 * count_ * sizeof(T));
        context.setting("sums", window_ <= longest_direct ? "direct" : "running");
        context.setting("means_per_thread", shape_.items);
        context.setting("block_threads", shape_.threads);
        context.setting("tile", static_cast<double>(shape_.threads) * shape_.items *
                                    static_cast<double>(window_steps(shape_, window_)));
    }

    void run() { launch(shape_); }
    Work work() const { return window_data::work<T>(count_); }
    Check verify() const {
        // Each thread begins with a window, so runs are longer than that.
        const std::size_t run = std::max<std::size_t>(4 * window_, 1024);
        const auto worst =
            device::find_worst(place_.stream, (count_ + run - 1) / run, WorstOfRun<T>{task(), run});
        return check_value(worst.error, bound(), window_data::method, window_data::damage);
    }
    void poison() { device::set_bytes(out_, 0xff, place_.stream); }
    /// One mean, by twice the bound.
    void spoil() {
        device::change(out_.data() + spoils_.next() % count_, place_.stream,
                       [this](T mean) { return off_by_twice(mean, bound()); });
    }

private:
    WindowTask<T> task() const {
        return {.in = in_.data(),
                .out = out_.data(),
                .count = count_,
                .window = window_,
                .inverse = T{1} / static_cast<T>(window_)};
    }
    double bound() const {
        return unit_roundoff<T> *
               window_error(shape_, window_, window_data::low<T>, window_data::high<T>);
    }
    /// Queues all means once.
    void launch(const WindowShape& shape) const {
        constexpr unsigned lanes = 16 / sizeof(T);
        shape.items == lanes ? launch<lanes>(shape) : launch<2 * lanes>(shape);
    }
    template <unsigned items>
    void launch(const WindowShape& shape) const {
        const device::Launch how{window_blocks(shape, window_, count_), shape.threads,
                                 place_.stream.get()};
        if (window_ <= longest_direct)
            device::launch(direct<T, items>, how, task());
        else
            device::launch(moving<T, items>, how, task(), window_steps(shape, window_));
    }

    std::size_t window_;
    device::Place& place_;
    std::size_t count_; // of means
    device::Buffer<T> in_;
    device::Buffer<T> out_;
    WindowShape shape_{};
    Picks spoils_{window_data::spoil_seed};
};

class DeviceWindow : private device::Place, public OneOf<Series<double>, Series<float>> {
public:
    struct Params {
        std::int64_t window = 20;
        Precision precision = Precision::fp64;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "stencil.window",
        .question = "How fast does this device compute moving averages over a long series?",
        .method = "The mean of every window of a series of uniform random numbers, out of place, "
                  "as in trading signals and filters. Windows up to 8 are summed directly; for "
                  "longer ones each block sums one window and advances by what enters less what "
                  "leaves, as prefix sums over the block, for at least four windows, so that the "
                  "work does not depend on the length and rounding errors do not accumulate. The "
                  "fastest block and means per thread in a short trial are used. Every mean is "
                  "compared on the device with a compensated running sum.",
        .caveats =
            "Bytes count series and means once, the least traffic beyond the caches. Prefix sums "
            "in fp64 can be compute-bound on devices with few fp64 units. A window of 1 is a copy.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .trial_bytes = 128_KiB,
        .noise = Noise::memory,
    };
    static constexpr auto axes = window_data::axes<Params>;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_device(device::footprint_or(p.footprint, 512_MiB) +
                                   window_data::window_bytes(p.window));
    }

    DeviceWindow(const Params& p, const Context& context)
        : OneOf{p.precision, p.window, device::footprint(p.footprint, 2, properties),
                static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_window = define<DeviceWindow>();

} // namespace assay::stencil
