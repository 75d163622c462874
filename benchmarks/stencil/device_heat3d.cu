// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "stencil/heat_data.hpp"
#include "stencil/heat_march.hpp"

namespace assay::stencil {
namespace {

constexpr std::size_t device_line = 128; // bytes, of the caches: rows begin on one

template <class March>
__global__ void __launch_bounds__(most_heat_threads, March::least_blocks)
    march_kernel(March march) {
    march(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x,
          std::size_t{blockIdx.y} * blockDim.y + threadIdx.y, blockIdx.z);
}

/// The deviation of a cell by its number, counted without the shell.
template <class T>
struct DeviationOfCell {
    heat_data::Deviation<T> deviation;
    std::size_t columns;
    std::size_t rows;
    std::size_t first; ///< element of cell (0, 0, 0)
    ASSAY_HOST_DEVICE double operator()(std::uint64_t cell) const {
        const std::size_t row = cell / columns;
        return deviation(first + cell % columns + row % rows * deviation.row +
                         row / rows * deviation.plane);
    }
};

/// Two grids of one precision on the device.
template <class T>
class Grids {
public:
    Grids(Neighbours neighbours, std::int64_t footprint, device::Place& place,
          const Context& context)
        : neighbours_{neighbours}, place_{place}, extent_{extent_for(footprint / 2, sizeof(T), 1)},
          layout_{extent_, sizeof(T), device_line}, in_{layout_.count}, out_{layout_.count} {
        device::fill_uniform(place.stream, in_, heat_data::in_seed, heat_data::low<T>,
                             heat_data::high<T>);
        poison();
        shape_ = device::fastest_of(place.clock, heat_shapes(sizeof(T)),
                                    [this](const HeatShape& shape) { launch(shape); });
        context.setting("columns", extent_.columns);
        context.setting("rows", extent_.rows);
        context.setting("planes", extent_.planes);
        context.setting("footprint", 2 * extent_.cells() * sizeof(T));
        context.setting("cells_per_thread", shape_.lanes);
        context.setting("block_threads", joined(shape_.threads_x, 'x', shape_.threads_y));
        context.setting("rows_per_thread", shape_.rows);
        context.setting("depth", shape_.depth);
        context.setting("march", joined(shape_.turns ? "up and down" : "up",
                                        shape_.fetches_next ? ", next plane fetched" : ""));
    }

    void run() { launch(shape_); }
    Work work() const { return heat_data::work<T>(neighbours_, extent_); }
    Check verify() const {
        const std::size_t first = layout_.at(0, 0, 0);
        const heat_data::Deviation<T> deviation{in_.data(),  out_.data(),
                                                layout_.row, layout_.plane,
                                                neighbours_, heat_data::weights<T>(neighbours_)};
        return device::check_each(
            place_.stream, extent_.cells(),
            DeviationOfCell<T>{deviation, extent_.columns, extent_.rows, first}, bound(),
            heat_data::method);
    }
    Outputs outputs() const { return {device::output(out_, place_.stream)}; }
    void poison() { device::set_bytes(out_, 0xff, place_.stream); }
    /// One cell, by twice the bound.
    void spoil() {
        device::change(out_.data() + layout_.at(extent_, spoils_.next() % extent_.cells()),
                       place_.stream, [this](T value) { return off_by_twice(value, bound()); });
    }

private:
    /// Queues one sweep.
    void launch(const HeatShape& shape) const {
        const std::size_t first = layout_.at(0, 0, 0);
        const Fields<T> fields{.in = in_.data() + first,
                               .out = out_.data() + first,
                               .columns = extent_.columns,
                               .row = layout_.row,
                               .plane = layout_.plane};
        const HeatBlocks blocks = blocks_of(shape, extent_);
        with_march(neighbours_, shape, fields, extent_, heat_data::weights<T>(neighbours_),
                   [&]<class March>(const March& march) {
                       device::launch(march_kernel<March>,
                                      {dim3(blocks.x, blocks.y, blocks.z),
                                       dim3(shape.threads_x, shape.threads_y), place_.stream.get()},
                                      march);
                   });
    }
    double bound() const { return heat_data::bound<T>(neighbours_); }
    Neighbours neighbours_;
    device::Place& place_;
    Extent extent_;
    Layout layout_;
    device::Buffer<T> in_;
    device::Buffer<T> out_;
    HeatShape shape_{};
    Picks spoils_{heat_data::spoil_seed};
};

class DeviceHeat3d : private device::Place, public OneOf<Grids<double>, Grids<float>> {
public:
    struct Params {
        Neighbours stencil = Neighbours::faces;
        Precision precision = Precision::fp64;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "stencil.heat3d",
        .question = "How fast does this device sweep a three-dimensional grid?",
        .method = "One explicit step of the heat equation per call, out of place, on uniform "
                  "random numbers: a 7-point or 27-point stencil. Each thread marches through the "
                  "planes and keeps what it needs of three of them in registers; neighbours within "
                  "a plane come through the first-level cache. The fastest shape in a short trial "
                  "is used: cells and rows per thread, block, length and direction of the march, "
                  "and whether a thread loads its cells of the next plane early. Every cell is "
                  "compared with a scalar fp64 recomputation on the device.",
        .caveats = "Bytes count each grid once, one read and one write per cell: the least traffic "
                   "beyond the caches, so the share of memory.stream says how close the sweep "
                   "comes to a copy. Temporal blocking could do better and is not used. 8 or 30 "
                   "FLOP per cell, as on hosts.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .trial_bytes = 512_KiB,
        .noise = Noise::memory,
        .reproducible = true,
    };
    static constexpr auto axes = heat_data::axes<Params>;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (p.footprint.symbol != Symbol::none) return device::fits_device(512_MiB);
        return device::fits_device(
            heat_data::bytes_of(p.footprint.number, p.precision, 1, device_line));
    }

    DeviceHeat3d(const Params& p, const Context& context)
        : OneOf{p.precision, p.stencil, device::footprint(p.footprint, 2, properties),
                static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_heat3d = define<DeviceHeat3d>();

} // namespace assay::stencil
