// SPDX-License-Identifier: Apache-2.0

#include "device/place.hpp"
#include "device/properties.hpp"
#include "memory/device_access.hpp"

#include <assay/define.hpp>
#include <assay/random.hpp>
#include <assay/units.hpp>

#include <cmath>
#include <cstdint>
#include <tuple>

namespace assay::memory {
namespace {

using namespace units;

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
        .place = "cuda",
        .trial_bytes = 512_KiB,
        .bound = Bound::memory,
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
        const auto bytes =
            p.footprint.symbol == Symbol::none ? p.footprint.number : 2 * std::int64_t{256_MiB};
        // Sides are rounded up to a multiple of 256.
        const auto side = static_cast<std::int64_t>(matrix_side(bytes / 2));
        return device::fits_device(2 * side * side * static_cast<std::int64_t>(sizeof(double)));
    }

    DeviceMatrix(const Params& p, const Context& context)
        : pattern_{p.pattern},
          side_{matrix_side(device::footprint(p.footprint, 2, device::properties()) / 2)},
          in_{side_ * side_}, out_{side_ * side_} {
        fill_matrix(in_.data(), side_, stream_);
        stream_.wait();
        context.setting("side", side_);
        context.setting("footprint", in_.bytes() + out_.bytes());
        context.tell({.footprint_bytes = static_cast<double>(in_.bytes() + out_.bytes())});
        context.setting("blocks", matrix_blocks(pattern_, side_));
        context.setting("block_threads", matrix_threads);
    }

    void run() { launch_matrix(pattern_, in_.data(), out_.data(), side_, stream_); }
    Work work() const { return {.bytes = static_cast<double>(in_.bytes() + out_.bytes())}; }
    Check verify() const { return check_matrix(pattern_, out_.data(), side_, stream_); }
    void poison() { device::set_bytes(out_, 0xff, stream_); }
    /// The last bit of one element.
    void spoil() {
        double* const at = out_.data() + spoils_.next() % out_.size();
        const double value = std::nextafter(device::get(at, stream_), 2.0);
        device::put(value, at, stream_);
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
