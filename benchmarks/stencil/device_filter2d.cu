// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "stencil/filter_column.hpp"

namespace assay::stencil {
namespace {

constexpr unsigned filter_width = 32; // threads of a block, along a row and across
constexpr unsigned filter_height = 8;

template <std::size_t side, unsigned rows, class T>
__global__ void __launch_bounds__(filter_width* filter_height)
    filter_columns(filter_data::Image image, filter_data::FilterWeights<T> weights, const T* in,
                   T* out) {
    filter_column<side, rows>(image, weights, in, out,
                              std::size_t{blockIdx.x} * filter_width + threadIdx.x,
                              (std::size_t{blockIdx.y} * filter_height + threadIdx.y) * rows);
}

template <class T>
struct PixelAt {
    ASSAY_HOST_DEVICE T operator()(std::uint64_t i) const { return filter_data::input<T>(i); }
};

/// An image of one precision and the filtered one, on the device.
template <class T>
class Images {
public:
    Images(Side side, std::int64_t footprint, device::Place& place, const Context& context)
        : side_{side}, place_{place}, image_{footprint, sizeof(T), side, 1},
          weights_{filter_data::weights<T>(image_.side)}, in_{image_.count}, out_{image_.count} {
        device::for_each_now(place.stream, in_.size(), device::Fill{in_.data(), PixelAt<T>{}});
        poison();
        rows_ = device::fastest_of(place.clock, std::vector<unsigned>{4, 8},
                                   [this](unsigned rows) { launch(rows); });
        context.setting("pixels_per_thread", rows_);
        filter_data::describe<T>(image_, context);
    }

    void run() { launch(rows_); }
    Work work() const { return filter_data::work<T>(image_); }
    Check verify() const {
        return device::check_each(
            place_.stream, image_.pixels(),
            filter_data::Deviation<T>{image_, weights_, in_.data(), out_.data()}, bound(),
            filter_data::method);
    }
    Outputs outputs() const { return {device::output(out_, place_.stream)}; }
    void poison() { device::set_bytes(out_, 0xff, place_.stream); } // NaN
    /// One pixel, by twice the bound.
    void spoil() {
        device::change(out_.data() + image_.place(spoils_.next() % image_.pixels()), place_.stream,
                       [this](T pixel) { return off_by_twice(pixel, bound()); });
    }

private:
    double bound() const { return filter_data::bound<T>(image_.side); }
    /// Queues one sweep.
    void launch(unsigned rows) const { rows == 4 ? launch<4>() : launch<8>(); }
    template <unsigned rows>
    void launch() const {
        switch (side_) {
        case Side::three:
            return launch<rows, 3>();
        case Side::five:
            return launch<rows, 5>();
        default:
            return launch<rows, 7>();
        }
    }
    template <unsigned rows, std::size_t side>
    void launch() const {
        const auto parts = [](std::size_t of, std::size_t each) {
            return static_cast<unsigned>((of + each - 1) / each);
        };
        device::launch(filter_columns<side, rows, T>,
                       {dim3(parts(image_.columns, filter_width),
                             parts(image_.rows, std::size_t{filter_height} * rows)),
                        dim3(filter_width, filter_height), place_.stream.get()},
                       image_, weights_, in_.data(), out_.data());
    }

    Side side_;
    device::Place& place_;
    filter_data::Image image_;
    filter_data::FilterWeights<T> weights_;
    device::Buffer<T> in_;
    device::Buffer<T> out_;
    unsigned rows_ = 0;
    Picks spoils_{filter_data::spoil_seed};
};

class DeviceFilter2d : private device::Place, public OneOf<Images<double>, Images<float>> {
public:
    struct Params {
        Side side = Side::three;
        Precision precision = Precision::fp64;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "stencil.filter2d",
        .question = "How fast does this device filter an image by a small kernel?",
        .method = "A 2-D convolution of one channel, directly: each pixel is the sum of its 3x3, "
                  "5x5 or 7x7 neighbours, each times a weight of its own. Image and weights are "
                  "random and positive. A thread computes four or eight pixels in a column, "
                  "whichever is faster in a short trial; neighbours come through the first-level "
                  "cache. Every pixel is compared with its sum in fp64 on the device.",
        .caveats = "2 FLOP per weight. Memory bounds small kernels and arithmetic large ones: "
                   "the roofline bound is the lower of peak.fma and of memory.stream times the "
                   "FLOP per byte, with one read and one write of each pixel. Repeated or "
                   "separable weights are not exploited, and tensor cores are not used.",
        .headline = "flop_rate",
        .ceiling = "peak.fma memory.stream",
        .place = device::place_kind,
        .trial_bytes = 256_KiB,
        .bound = Bound::vector_units,
        .noise = Noise::memory,
        .reproducible = true,
    };
    static constexpr auto axes = filter_data::axes<Params>;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_footprint(p.footprint, 512_MiB);
    }

    DeviceFilter2d(const Params& p, const Context& context)
        : OneOf{p.precision, p.side, device::footprint(p.footprint, 2, properties),
                static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_filter2d = define<DeviceFilter2d>();

} // namespace assay::stencil
