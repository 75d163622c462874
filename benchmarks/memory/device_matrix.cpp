// SPDX-License-Identifier: Apache-2.0

#include "device/clock.hpp"
#include "device/properties.hpp"
#include "memory/device_access.hpp"

#include <assay/define.hpp>
#include <assay/random.hpp>
#include <assay/units.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>

namespace assay::memory {
namespace {

using namespace units;

class DeviceMatrix {
public:
    struct Params {
        MatrixPattern pattern = MatrixPattern::rows;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.matrix",
        .question =
            "How fast is a matrix copied or transposed on this device, by the order in which "
            "threads walk over it?",
        .method =
            "A square matrix of fp64 of at least 1 GiB, row by row in memory, into another one, by "
            "blocks of 256 threads. Copies: neighbouring threads along a row (256 x 1 threads), in "
            "blocks (32 x 8), down a column (1 x 256). Transposes in tiles of 32 x 32: plain, "
            "through "
            "shared memory, and through shared memory with rows one element longer. Elements are "
            "random; every one is made again on the device and must agree to the last bit.",
        .caveats =
            "Counts each element once read and once written. Blocks are not tuned: the best rate "
            "of a copy is that of memory.stream.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        choice(
            "pattern",
            "copy by rows, blocks or columns; transpose plainly, tiled in shared memory, or tiled "
            "without bank conflicts",
            &Params::pattern,
            {Name{"rows", MatrixPattern::rows}, Name{"blocks", MatrixPattern::blocks},
             Name{"columns", MatrixPattern::columns}, Name{"transpose", MatrixPattern::transpose},
             Name{"transpose_tiled", MatrixPattern::transpose_tiled},
             Name{"transpose_padded", MatrixPattern::transpose_padded}},
            {MatrixPattern::rows, MatrixPattern::blocks, MatrixPattern::columns,
             MatrixPattern::transpose, MatrixPattern::transpose_tiled,
             MatrixPattern::transpose_padded}),
        symbolic("footprint", "bytes of both matrices", "B", &Params::footprint,
                 {Symbolic{Symbol::beyond_cache}}, {1_MiB, 1_TiB}, {Symbol::beyond_cache}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const auto bytes =
            p.footprint.symbol == Symbol::none ? p.footprint.number : 2 * std::int64_t{256_MiB};
        // Sides are rounded up to a multiple of 256.
        const auto side = static_cast<std::int64_t>(matrix_side(bytes / 2));
        return device::fits_device(2 * side * side * static_cast<std::int64_t>(sizeof(double)));
    }

    DeviceMatrix(const Params& p, const Context& context)
        : pattern_{p.pattern},
          side_{matrix_side(device::footprint(p.footprint, 2, device::properties()) / 2)},
          clock_{stream_}, in_{side_ * side_}, out_{side_ * side_} {
        fill_matrix(in_.data(), side_, stream_);
        stream_.wait();
        context.setting("side", static_cast<double>(side_));
        context.setting("footprint", static_cast<double>(in_.bytes() + out_.bytes()));
        context.setting("blocks", static_cast<double>(matrix_blocks(pattern_, side_)));
        context.setting("block_threads", matrix_threads);
    }

    device::EventClock& clock() { return clock_; }
    void run() { launch_matrix(pattern_, in_.data(), out_.data(), side_, stream_); }
    Work work() const { return {.bytes = static_cast<double>(in_.bytes() + out_.bytes())}; }
    Check verify() const { return check_matrix(pattern_, out_.data(), side_, stream_); }
    void poison() {
        device::check(cudaMemsetAsync(out_.data(), 0xff, out_.bytes(), stream_.get())); // NaN
        stream_.wait();
    }
    /// The last bit of one element.
    void spoil() {
        double* const at = out_.data() + random_bits(spoil_seed, spoils_++) % out_.size();
        const double value = std::nextafter(device::to_host(at, 1, stream_).front(), 2.0);
        device::to_device(std::span<const double>{&value, 1}, at, stream_);
    }

private:
    static constexpr std::uint64_t spoil_seed = 17;

    MatrixPattern pattern_;
    std::uint64_t side_;
    device::Stream stream_;
    device::EventClock clock_;
    device::Buffer<double> in_;
    device::Buffer<double> out_;
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark device_matrix;
constinit const assay_benchmark device_matrix = define<DeviceMatrix>();

} // namespace assay::memory
