// SPDX-License-Identifier: Apache-2.0
#include "device/worst.cuh"
#include "stencil/device_heat_kernels.hpp"

namespace assay::stencil {
namespace {

template <class March>
__global__ void __launch_bounds__(most_heat_threads) march_kernel(March march, unsigned lanes) {
    const std::size_t x = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    march(x * lanes, std::size_t{blockIdx.y} * blockDim.y + threadIdx.y, blockIdx.z);
}

template <class T, Neighbours neighbours, unsigned lanes>
void launch(const HeatGrids<T>& grids, const HeatShape& shape, const device::Stream& stream) {
    const HeatMarch<T, neighbours, lanes> march{grids.fields, heat_data::weights<T>(neighbours),
                                                grids.extent.rows, grids.extent.planes,
                                                shape.depth};
    const HeatBlocks blocks = blocks_of(shape, grids.extent);
    device::launch(
        march_kernel<HeatMarch<T, neighbours, lanes>>,
        {dim3(blocks.x, blocks.y, blocks.z), dim3(shape.threads_x, shape.threads_y), stream.get()},
        march, lanes);
}

template <class T, Neighbours neighbours>
void launch(const HeatGrids<T>& grids, const HeatShape& shape, const device::Stream& stream) {
    if (shape.lanes == 1)
        launch<T, neighbours, 1>(grids, shape, stream);
    else
        launch<T, neighbours, 16 / sizeof(T)>(grids, shape, stream);
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

} // namespace

template <class T>
void launch_heat(const HeatGrids<T>& grids, const HeatShape& shape, const device::Stream& stream) {
    if (grids.neighbours == Neighbours::faces)
        launch<T, Neighbours::faces>(grids, shape, stream);
    else
        launch<T, Neighbours::all>(grids, shape, stream);
}

template <class T>
Check check_heat(const HeatGrids<T>& grids, std::size_t first, const device::Stream& stream) {
    const heat_data::Deviation<T> deviation{
        grids.fields.in - first, grids.fields.out - first, grids.fields.row,
        grids.fields.plane,      grids.neighbours,         heat_data::weights<T>(grids.neighbours)};
    return device::check_each(
        stream, grids.extent.cells(),
        DeviationOfCell<T>{deviation, grids.extent.columns, grids.extent.rows, first},
        heat_data::bound<T>(grids.neighbours), heat_data::method);
}

template void launch_heat(const HeatGrids<double>&, const HeatShape&, const device::Stream&);
template void launch_heat(const HeatGrids<float>&, const HeatShape&, const device::Stream&);
template Check check_heat(const HeatGrids<double>&, std::size_t, const device::Stream&);
template Check check_heat(const HeatGrids<float>&, std::size_t, const device::Stream&);

} // namespace assay::stencil
