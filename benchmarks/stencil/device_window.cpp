// SPDX-License-Identifier: Apache-2.0
#include "device/place.hpp"
#include "device/properties.hpp"
#include "device/random.hpp"
#include "device/trial.hpp"
#include "stencil/device_window_kernels.hpp"
#include "stencil/window_data.hpp"

#include <assay/define.hpp>
#include <assay/one_of.hpp>
#include <assay/units.hpp>

#include <cstdint>
#include <tuple>

namespace assay::stencil {
namespace {

using namespace units;

enum class Precision : std::uint8_t { fp64, fp32 };

using device::Place;

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
    Series(std::int64_t window, std::int64_t footprint, Place& place, const Context& context)
        : window_{static_cast<std::size_t>(window)}, place_{place}, count_{means_of<T>(footprint)},
          in_{count_ + window_}, out_{count_} {
        device::fill_uniform(place.stream, in_, window_data::in_seed, window_data::low<T>,
                             window_data::high<T>);
        poison();
        choose_shape();
        context.setting("elements", count_);
        context.setting("footprint", 2 * count_ * sizeof(T));
        context.setting("sums", window_ <= longest_direct ? "direct" : "running");
        context.setting("means_per_thread", shape_.items);
        context.setting("block_threads", shape_.threads);
        context.setting("tile", static_cast<double>(shape_.threads) * shape_.items *
                                    static_cast<double>(window_steps(shape_, window_)));
    }

    void run() { launch_window(task(), shape_, place_.stream); }

    Work work() const {
        const auto n = static_cast<double>(count_);
        return {.bytes = 2 * sizeof(T) * n, .cells = n};
    }
    Check verify() const { return check_window(task(), bound(), place_.stream); }
    void poison() { device::set_bytes(out_, 0xff, place_.stream); }
    /// One mean, by twice the bound.
    void spoil() {
        T* const at = out_.data() + random_bits(window_data::spoil_seed, spoils_++) % count_;
        const T mean = device::get(at, place_.stream);
        const auto spoilt = static_cast<T>(static_cast<double>(mean) * (1 + 2 * bound()));
        device::put(spoilt, at, place_.stream);
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
    void choose_shape() {
        const auto shapes = window_shapes(sizeof(T));
        shape_ = shapes[device::fastest_of(place_.clock, shapes.size(), [&](std::size_t i) {
            launch_window(task(), shapes[i], place_.stream);
        })];
    }

    std::size_t window_;
    Place& place_;
    std::size_t count_; // of means
    device::Buffer<T> in_;
    device::Buffer<T> out_;
    WindowShape shape_{};
    std::uint64_t spoils_ = 0;
};

class DeviceWindow : private Place, public OneOf<Series<double>, Series<float>> {
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
        .place = "cuda",
        .trial_bytes = 128_KiB,
    };
    static constexpr std::tuple axes{
        integer("window", "elements of a mean", "", &Params::window, {20, 250}, {1, 1 << 20}),
        choice("precision", "of the series and the means", &Params::precision,
               {{"fp64", Precision::fp64}, {"fp32", Precision::fp32}}),
        footprint_axis("bytes of series and means", &Params::footprint, {Symbol::beyond_cache},
                       {64_KiB, 16_TiB}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const std::int64_t window_bytes = p.window * static_cast<std::int64_t>(sizeof(double));
        const std::int64_t bytes =
            p.footprint.symbol == Symbol::none ? p.footprint.number : 512_MiB;
        return device::fits_device(bytes + window_bytes);
    }

    DeviceWindow(const Params& p, const Context& context)
        : OneOf{[&] { return make(p, context); }} {}

    device::EventClock& clock() { return Place::clock; }

private:
    State make(const Params& p, const Context& context) {
        Place& place = *this;
        const std::int64_t bytes = device::footprint(p.footprint, 2, properties);
        if (p.precision == Precision::fp64)
            return State{std::in_place_type<Series<double>>, p.window, bytes, place, context};
        return State{std::in_place_type<Series<float>>, p.window, bytes, place, context};
    }
};

} // namespace

extern constinit const assay_benchmark device_window = define<DeviceWindow>();

} // namespace assay::stencil
