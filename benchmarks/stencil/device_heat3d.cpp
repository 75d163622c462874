// SPDX-License-Identifier: Apache-2.0
#include "device/place.hpp"
#include "device/properties.hpp"
#include "device/random.hpp"
#include "device/trial.hpp"
#include "stencil/device_heat_kernels.hpp"

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

/// Two grids of one precision on the device.
template <class T>
class Grids {
public:
    Grids(Neighbours neighbours, std::int64_t footprint, Place& place, const Context& context)
        : neighbours_{neighbours}, place_{place}, extent_{extent_for(footprint / 2, sizeof(T), 1)},
          layout_{extent_, sizeof(T), line_bytes}, in_{layout_.count}, out_{layout_.count} {
        device::fill_uniform(place.stream, in_, heat_data::in_seed, heat_data::low<T>,
                             heat_data::high<T>);
        poison();
        choose_shape();
        context.setting("columns", extent_.columns);
        context.setting("rows", extent_.rows);
        context.setting("planes", extent_.planes);
        context.setting("footprint", 2 * extent_.cells() * sizeof(T));
        context.setting("cells_per_thread", shape_.lanes);
        context.setting("block_threads", joined(shape_.threads_x, 'x', shape_.threads_y));
        context.setting("depth", shape_.depth);
    }

    void run() { launch_heat(grids(), shape_, place_.stream); }

    Work work() const {
        const auto cells = static_cast<double>(extent_.cells());
        return {.flops = flops_per_cell(neighbours_) * cells,
                .bytes = 2 * sizeof(T) * cells,
                .cells = cells};
    }
    Check verify() const { return check_heat(grids(), layout_.at(0, 0, 0), place_.stream); }
    void poison() { device::set_bytes(out_, 0xff, place_.stream); }
    /// One cell, by twice the bound.
    void spoil() {
        const std::uint64_t cell = random_bits(heat_data::spoil_seed, spoils_++) % extent_.cells();
        const std::size_t row = cell / extent_.columns;
        T* const at = out_.data() +
                      layout_.at(cell % extent_.columns, row % extent_.rows, row / extent_.rows);
        const T value = device::get(at, place_.stream);
        const auto spoilt =
            static_cast<T>(static_cast<double>(value) * (1 + 2 * heat_data::bound<T>(neighbours_)));
        device::put(spoilt, at, place_.stream);
    }

private:
    static constexpr std::size_t line_bytes = 128; // of the caches: rows begin on one

    HeatGrids<T> grids() const {
        const std::size_t first = layout_.at(0, 0, 0);
        return {.fields = {.in = in_.data() + first,
                           .out = out_.data() + first,
                           .columns = extent_.columns,
                           .row = layout_.row,
                           .plane = layout_.plane},
                .extent = extent_,
                .neighbours = neighbours_};
    }
    void choose_shape() {
        const auto shapes = heat_shapes(sizeof(T));
        shape_ = shapes[device::fastest_of(place_.clock, shapes.size(), [&](std::size_t i) {
            launch_heat(grids(), shapes[i], place_.stream);
        })];
    }

    Neighbours neighbours_;
    Place& place_;
    Extent extent_;
    Layout layout_;
    device::Buffer<T> in_;
    device::Buffer<T> out_;
    HeatShape shape_{};
    std::uint64_t spoils_ = 0;
};

class DeviceHeat3d : private Place, public OneOf<Grids<double>, Grids<float>> {
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
                  "a plane come through the first-level cache. The fastest cells per thread, block "
                  "and march length in a short trial are used. Every cell is compared with a "
                  "scalar fp64 recomputation on the device.",
        .caveats = "Bytes count each grid once, one read and one write per cell: the least traffic "
                   "beyond the caches, so the share of memory.stream says how close the sweep "
                   "comes to a copy. Temporal blocking could do better and is not used. 8 or 30 "
                   "FLOP per cell, as on hosts.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = "cuda",
        .trial_bytes = 512_KiB,
    };
    static constexpr std::tuple axes{
        choice("stencil", "stencil points", &Params::stencil,
               {{"7_point", Neighbours::faces}, {"27_point", Neighbours::all}}),
        choice("precision", "of the cells", &Params::precision,
               {{"fp64", Precision::fp64}, {"fp32", Precision::fp32}}),
        footprint_axis("bytes over both grids", &Params::footprint, {Symbol::beyond_cache},
                       {64_KiB, 16_TiB}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_device(p.footprint.symbol == Symbol::none ? grid_bytes(p) : 512_MiB);
    }

    DeviceHeat3d(const Params& p, const Context& context)
        : OneOf{[&] { return make(p, context); }} {}

    device::EventClock& clock() { return Place::clock; }

private:
    /// With shell and padding, which are much of a small grid.
    static std::int64_t grid_bytes(const Params& p) {
        const std::size_t size = p.precision == Precision::fp64 ? sizeof(double) : sizeof(float);
        const Extent extent = extent_for(p.footprint.number / 2, size, 1);
        return static_cast<std::int64_t>(2 * size * Layout{extent, size, 128}.count);
    }
    State make(const Params& p, const Context& context) {
        Place& place = *this;
        const std::int64_t bytes = device::footprint(p.footprint, 2, properties);
        if (p.precision == Precision::fp64)
            return State{std::in_place_type<Grids<double>>, p.stencil, bytes, place, context};
        return State{std::in_place_type<Grids<float>>, p.stencil, bytes, place, context};
    }
};

} // namespace

extern constinit const assay_benchmark device_heat3d = define<DeviceHeat3d>();

} // namespace assay::stencil
