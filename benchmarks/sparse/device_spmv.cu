// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "sparse/spmv_rows.hpp"

namespace assay::sparse {
namespace {

constexpr unsigned spmv_threads = 256; // of a block

template <class T, unsigned lanes>
__global__ void __launch_bounds__(spmv_threads)
    multiply_rows(Csr<T> matrix, const T* x, T* y, std::uint32_t rows) {
    const unsigned lane = threadIdx.x % lanes;
    const std::uint32_t row = blockIdx.x * (spmv_threads / lanes) + threadIdx.x / lanes;
    T sum = row < rows ? share_of_lane<lanes>(matrix, x, row, lane) : T{0};
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(device::every_lane, sum, distance);
    if (lane == 0 && row < rows) y[row] = sum;
}

/// The matrix of a cube in one precision, and the vectors, on the device.
template <class T>
class Product {
public:
    Product(std::int64_t footprint, device::Place& place, const Context& context)
        : place_{place}, cube_{cube_of(footprint, sizeof(T))}, first_{cube_.rows() + 1},
          columns_{cube_.entries()}, values_{cube_.entries()}, x_{cube_.rows()}, y_{cube_.rows()} {
        device::for_each_now(
            place.stream, cube_.rows(),
            spmv_data::Fill<T>{cube_, first_.data(), columns_.data(), values_.data(), x_.data()});
        poison();
        lanes_ = device::fastest_of(place.clock, std::vector<unsigned>{32, 16, 8, 4},
                                    [this](unsigned lanes) { launch(lanes); });
        context.setting("threads_per_row", lanes_);
        spmv_data::describe<T>(cube_, context);
    }

    void run() { launch(lanes_); }
    Work work() const { return spmv_data::work<T>(cube_); }
    Check verify() const {
        return device::check_each(place_.stream, cube_.rows(),
                                  spmv_data::Deviation<T>{cube_, matrix(), x_.data(), y_.data()},
                                  spmv_data::bound<T>(), spmv_data::method);
    }
    Outputs outputs() const { return {device::output(y_, place_.stream)}; }
    void poison() { device::set_bytes(y_, 0xff, place_.stream); } // NaN
    /// One element, by twice the bound.
    void spoil() {
        device::change(y_.data() + spoils_.next() % cube_.rows(), place_.stream,
                       [](T element) { return off_by_twice(element, spmv_data::bound<T>()); });
    }

private:
    Csr<T> matrix() const { return {first_.data(), columns_.data(), values_.data()}; }
    /// Queues one product.
    void launch(unsigned lanes) const {
        switch (lanes) {
        case 32:
            return launch<32>();
        case 16:
            return launch<16>();
        case 8:
            return launch<8>();
        default:
            return launch<4>();
        }
    }
    template <unsigned lanes>
    void launch() const {
        constexpr std::uint64_t of_block = spmv_threads / lanes;
        const auto blocks = static_cast<unsigned>((cube_.rows() + of_block - 1) / of_block);
        device::launch(multiply_rows<T, lanes>, {blocks, spmv_threads, place_.stream.get()},
                       matrix(), x_.data(), y_.data(), static_cast<std::uint32_t>(cube_.rows()));
    }

    device::Place& place_;
    Cube cube_;
    device::Buffer<std::uint32_t> first_;
    device::Buffer<std::uint32_t> columns_;
    device::Buffer<T> values_;
    device::Buffer<T> x_;
    device::Buffer<T> y_;
    unsigned lanes_ = 0;
    Picks spoils_{spmv_data::spoil_seed};
};

class DeviceSpmv : private device::Place, public OneOf<Product<double>, Product<float>> {
public:
    struct Params {
        Precision precision = Precision::fp64;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "sparse.spmv",
        .question = "How fast does this device multiply a sparse matrix by a vector?",
        .method = "y = A x, where A is the matrix of a 27-point stencil on a cube, as in HPCG, in "
                  "compressed rows (CSR) with indexes of 32 bits and random positive entries. 4, "
                  "8, 16 or 32 threads share a row, whichever is the fastest in a short trial. "
                  "Every element is compared on the device with the fp64 sum of its row, whose "
                  "entries follow from the geometry.",
        .caveats = "Bytes count the matrix and both vectors once: the least traffic beyond the "
                   "caches, if x stays there between neighbouring planes. 2 FLOP per entry, as on "
                   "hosts. Formats that suit devices better than CSR are not used.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .trial_bytes = 256_KiB,
        .bound = Bound::memory,
        .noise = Noise::memory,
        .reproducible = true,
    };
    static constexpr auto axes = spmv_data::axes<Params>;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_footprint(p.footprint, 256_MiB);
    }

    DeviceSpmv(const Params& p, const Context& context)
        : OneOf{p.precision, device::footprint(p.footprint, 2, properties),
                static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_spmv = define<DeviceSpmv>();

} // namespace assay::sparse
