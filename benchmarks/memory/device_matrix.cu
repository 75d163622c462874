// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "memory/device_access_shapes.hpp"

namespace assay::memory {
namespace {

struct Element {
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const { return matrix_element(i); }
};
struct Result {
    std::uint64_t side;
    bool transposed;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        return matrix_result(transposed, i, side);
    }
};

__global__ void __launch_bounds__(matrix_threads)
    copy_matrix(const double* in, double* out, std::uint64_t side, unsigned width) {
    const Place at = copied_place(blockIdx.x, threadIdx.x, width, side);
    out[at.row * side + at.column] = in[at.row * side + at.column];
}

__global__ void __launch_bounds__(matrix_threads)
    transpose_plain(const double* in, double* out, std::uint64_t side) {
#pragma unroll
    for (unsigned k = 0; k < tile_side / tile_rows; ++k) {
        const Place at = tile_place(blockIdx.x, threadIdx.x, k, side);
        out[at.column * side + at.row] = in[at.row * side + at.column];
    }
}

template <unsigned padding>
__global__ void __launch_bounds__(matrix_threads)
    transpose_through_tile(const double* in, double* out, std::uint64_t side) {
    __shared__ double tile[tile_side][tile_side + padding];
    const unsigned x = threadIdx.x % tile_side;
    const unsigned y = threadIdx.x / tile_side;
#pragma unroll
    for (unsigned k = 0; k < tile_side / tile_rows; ++k) {
        const Place at = tile_place(blockIdx.x, threadIdx.x, k, side);
        tile[y + k * tile_rows][x] = in[at.row * side + at.column];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < tile_side / tile_rows; ++k) {
        const Place at = mirrored_place(blockIdx.x, threadIdx.x, k, side);
        out[at.row * side + at.column] = tile[x][y + k * tile_rows];
    }
}

class DeviceMatrix : public device::OnDevice {
public:
    struct Params {
        MatrixPattern pattern = MatrixPattern::rows;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.matrix",
        .question = "How fast is a matrix copied or transposed on this device, by access order?",
        .method =
            "A square fp64 matrix of at least 1 GiB, stored row by row, copied or transposed out "
            "of place by blocks of 256 threads. Copies: adjacent threads along a row (256 x 1), in "
            "tiles (32 x 8), down a column (1 x 256). Transposes in 32 x 32 tiles: directly, "
            "through shared memory, and through shared memory with padded rows. Data is random; "
            "every element is recomputed on the device and compared bit for bit.",
        .caveats = "Counts one read and one write per element. Blocks are not tuned: the best copy "
                   "rate is that of memory.stream.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .trial_bytes = 512_KiB,
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        choice("pattern",
               "copy by rows, blocks or columns; transpose plainly, tiled in shared memory, or "
               "tiled without bank conflicts",
               &Params::pattern,
               {Name{"rows", MatrixPattern::rows}, Name{"blocks", MatrixPattern::blocks},
                Name{"columns", MatrixPattern::columns},
                Name{"transpose", MatrixPattern::transpose},
                Name{"transpose_tiled", MatrixPattern::transpose_tiled},
                Name{"transpose_padded", MatrixPattern::transpose_padded}}),
        footprint_axis("bytes of both matrices", &Params::footprint, {Symbol::beyond_cache},
                       {1_MiB, 1_TiB}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const std::int64_t bytes = device::footprint_or(p.footprint, 2 * 256_MiB);
        // Sides are rounded up to a multiple of 256.
        const auto side = static_cast<std::int64_t>(matrix_side(bytes / 2));
        return device::fits_device(2 * side * side * static_cast<std::int64_t>(sizeof(double)));
    }

    DeviceMatrix(const Params& p, const Context& context)
        : pattern_{p.pattern},
          side_{matrix_side(device::footprint(p.footprint, 2, device::properties()) / 2)},
          in_{side_ * side_}, out_{side_ * side_} {
        device::for_each_now(stream_, in_.size(), device::Fill{in_.data(), Element{}});
        context.setting("side", side_);
        device::describe_footprint(in_.bytes() + out_.bytes(), context);
        context.setting("blocks", matrix_blocks(pattern_, side_));
        context.setting("block_threads", matrix_threads);
    }

    void run() {
        const device::Launch how{static_cast<unsigned>(matrix_blocks(pattern_, side_)),
                                 matrix_threads, stream_.get()};
        if (!transposes(pattern_))
            return device::launch(copy_matrix, how, in_.data(), out_.data(), side_,
                                  block_width(pattern_));
        const auto loop = pattern_ == MatrixPattern::transpose         ? transpose_plain
                          : pattern_ == MatrixPattern::transpose_tiled ? transpose_through_tile<0>
                                                                       : transpose_through_tile<1>;
        device::launch(loop, how, in_.data(), out_.data(), side_);
    }
    Work work() const { return {.bytes = static_cast<double>(in_.bytes() + out_.bytes())}; }
    Check verify() const {
        return device::check_each(stream_, out_.size(),
                                  device::Differs{out_.data(), Result{side_, transposes(pattern_)}},
                                  0, "every element recomputed from the random seed, bit for bit");
    }
    void poison() { device::set_bytes(out_, 0xff, stream_); }
    /// The last bit of one element.
    void spoil() {
        device::change(out_.data() + spoils_.next() % out_.size(), stream_,
                       [](double value) { return std::nextafter(value, 2.0); });
    }

private:
    MatrixPattern pattern_;
    std::uint64_t side_;
    device::Buffer<double> in_;
    device::Buffer<double> out_;
    Picks spoils_{17};
};

} // namespace

extern constinit const assay_benchmark device_matrix = define<DeviceMatrix>();

} // namespace assay::memory
