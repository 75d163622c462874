// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "montecarlo/option.hpp"

namespace assay::montecarlo {
namespace {

using option::Tally;

constexpr unsigned option_threads = 128; // of a block

/// By every thread of a block; the first one has the sum.
__device__ double sum_of_block(double own) {
    __shared__ double warps[option_threads / device::warp_lanes];
    own = device::sum_of_warp(own);
    __syncthreads(); // everybody has read what the call before left
    if (device::lane() == 0) warps[device::warp()] = own;
    __syncthreads();
    double sum = 0;
    for (const double warp : warps) sum += warp;
    return sum;
}

/// A block of paths by each block of threads. Numbers repeat from call to call, bit for bit: the sums have one order.
template <class T>
__global__ void __launch_bounds__(option_threads) simulate(Tally* tallies) {
    using Ops = ScalarOps<T>;
    constexpr std::size_t counters = option::counters<T>;
    constexpr Terms of_option = terms; // devices have no variable of the host
    typename Formulas<Ops>::Sums sums{};
    for (std::size_t i = threadIdx.x; i < counters; i += option_threads) {
        const Words words = philox_words(blockIdx.x * counters + i, option::key);
#pragma unroll
        for (unsigned k = 0; k < option::paths_of_counter<T> / 2; ++k) {
            const auto pair = option::pair_of<T>(words, k);
            Formulas<Ops>::add_paths(Ops{}, of_option, pair.radius, pair.angle, sums);
        }
    }
    const double payoff = sum_of_block(static_cast<double>(sums.payoff));
    const double below = sum_of_block(static_cast<double>(sums.below));
    if (threadIdx.x == 0) tallies[blockIdx.x] = {payoff, below};
}

template <class T>
class Paths {
public:
    Paths(std::int64_t paths, device::Place& place, const Context& context)
        : place_{place}, tallies_{option::blocks_of(paths)} {
        poison();
        context.setting("paths", tallies_.size() * option::block);
    }

    void run() {
        device::launch(
            simulate<T>,
            {static_cast<unsigned>(tallies_.size()), option_threads, place_.stream.get()},
            tallies_.data());
    }
    Work work() const { return option::work<T>(tallies_.size()); }
    Check verify() const {
        return option::with_statistics(device::check_each(place_.stream, tallies_.size(),
                                                          option::Deviation<T>{tallies_.data()},
                                                          option::bound<T>(), option::method),
                                       device::to_host(tallies_, place_.stream));
    }
    Outputs outputs() const { return {device::output(tallies_, place_.stream)}; }
    void poison() { device::set_bytes(tallies_, 0xff, place_.stream); } // NaN
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        device::change(tallies_.data() + pick % tallies_.size(), place_.stream,
                       [pick](Tally tally) {
                           option::spoil<T>(tally, pick >> 63U);
                           return tally;
                       });
    }

private:
    device::Place& place_;
    device::Buffer<Tally> tallies_;
    Picks spoils_{option::spoil_seed};
};

class DeviceOption : private device::Place, public OneOf<Paths<double>, Paths<float>> {
public:
    struct Params {
        Precision precision = Precision::fp64;
        std::int64_t paths = 1 << 24;
    };
    static constexpr Info info{
        .id = "montecarlo.option",
        .question = "How fast does this device simulate prices by Monte Carlo, with its random "
                    "numbers?",
        .method =
            "Each path is the price of a share after a year, lognormal; an option to buy it is "
            "averaged, and the prices below the quantile of 1% (value at risk) are counted. Random "
            "words by Philox4x32-10, normal numbers by Box and Muller; logarithms, sines and "
            "exponentials are the series that hosts use. Sums of 4096 paths are compared with the "
            "same paths by CUDA's functions in fp64; mean and quantile with their closed forms, "
            "within five standard deviations.",
        .caveats =
            "FLOP are those of the series, as on hosts: 69.5 for a path in fp64, 44.5 in fp32. "
            "Random words, signs and exponents are integers and count as none: the share of "
            "peak.fma is small. Series instead of the device's special functions: fp32 could be "
            "faster, and many devices have few fp64 units.",
        .headline = "flop_rate",
        .ceiling = "peak.fma",
        .place = device::place_kind,
        .bound = Bound::vector_units,
        .noise = Noise::arithmetic,
        .items = "paths",
        .reproducible = true,
    };
    static constexpr auto axes = option::axes<Params>;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_device(
            static_cast<std::int64_t>(option::blocks_of(p.paths) * sizeof(Tally)));
    }

    DeviceOption(const Params& p, const Context& context)
        : OneOf{p.precision, p.paths, static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_option = define<DeviceOption>();

} // namespace assay::montecarlo
