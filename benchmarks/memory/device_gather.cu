// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "memory/gather_data.hpp"

namespace assay::memory {
namespace {

constexpr unsigned gather_threads = 256; // of a block
constexpr unsigned gather_moves = 4;     // of a thread, on their way at once

struct GatherArrays {
    double* to;
    const double* from;
    const std::uint32_t* index;
    std::uint64_t count;
};

template <Direction direction>
__global__ void __launch_bounds__(gather_threads) move_elements(GatherArrays a) {
    const std::uint64_t first =
        std::uint64_t{blockIdx.x} * gather_threads * gather_moves + threadIdx.x;
    double values[gather_moves] = {};
    std::uint32_t places[gather_moves] = {};
#pragma unroll
    for (unsigned k = 0; k < gather_moves; ++k)
        if (const std::uint64_t i = first + k * gather_threads; i < a.count) places[k] = a.index[i];
#pragma unroll
    for (unsigned k = 0; k < gather_moves; ++k)
        if (const std::uint64_t i = first + k * gather_threads; i < a.count)
            values[k] = a.from[direction == Direction::gather ? places[k] : i];
#pragma unroll
    for (unsigned k = 0; k < gather_moves; ++k)
        if (const std::uint64_t i = first + k * gather_threads; i < a.count)
            a.to[direction == Direction::gather ? i : places[k]] = values[k];
}

struct IndexAt {
    Shuffle order;
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t i) const {
        return static_cast<std::uint32_t>(order(i));
    }
};
struct ValueAt {
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const { return gather_data::value(i); }
};

class DeviceGather : public device::OnDevice {
public:
    struct Params {
        Direction direction = Direction::gather;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.gather",
        .question = "How fast does this device read or write its memory through an index?",
        .method = "gather is a[i] = b[index[i]], scatter is a[index[i]] = b[i]; a and b are "
                  "fp64, the index of 32 bits is a random order of all elements, so that each is "
                  "moved once and no two writes meet. Each thread has four moves in flight. "
                  "Every element is compared bit for bit on the device with its recomputation "
                  "from the random seeds.",
        .caveats = "Counts 8 bytes per element, those accessed through the index. Beyond the "
                   "second-level cache the device moves a sector of at least 32 bytes for them, "
                   "plus the index and the other array: a sixth of memory.stream is a good "
                   "result.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .trial_bytes = 512_KiB,
        .bound = Bound::memory,
        .noise = Noise::memory,
        .reproducible = true,
    };
    static constexpr std::tuple axes{
        direction_axis(&Params::direction),
        footprint_axis("bytes over all arrays", &Params::footprint, {Symbol::beyond_cache},
                       {64_KiB, 64_GiB}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return device::fits_footprint(p.footprint, 256_MiB);
    }

    DeviceGather(const Params& p, const Context& context)
        : direction_{p.direction}, count_{gather_data::elements_of(device::footprint(
                                       p.footprint, arrays, device::properties()))},
          order_{count_, gather_data::index_seed}, to_{count_}, from_{count_}, index_{count_} {
        poison();
        device::for_each_now(stream_, count_, device::Fill{from_.data(), ValueAt{}});
        device::for_each_now(stream_, count_, device::Fill{index_.data(), IndexAt{order_}});
        device::describe_footprint(count_ * gather_data::bytes_per_element, context);
        context.setting("elements", count_);
    }

    void run() {
        const auto kernel = direction_ == Direction::gather ? move_elements<Direction::gather>
                                                            : move_elements<Direction::scatter>;
        constexpr std::uint64_t of_block = gather_threads * gather_moves;
        const auto blocks = static_cast<unsigned>((count_ + of_block - 1) / of_block);
        device::launch(kernel, {blocks, gather_threads, stream_.get()},
                       GatherArrays{to_.data(), from_.data(), index_.data(), count_});
    }
    Work work() const { return {.bytes = static_cast<double>(count_ * sizeof(double))}; }
    Check verify() const {
        return device::check_each(stream_, count_,
                                  gather_data::Deviation{direction_, order_, to_.data()}, 0,
                                  gather_data::method);
    }
    Outputs outputs() const { return {device::output(to_, stream_)}; }
    void poison() { device::set_bytes(to_, 0xff, stream_); } // NaN
    /// One bit of one element.
    void spoil() {
        device::change(to_.data() + spoils_.next() % count_, stream_,
                       [](double value) { return std::nextafter(value, 2 * value); });
    }

private:
    static constexpr std::int64_t arrays = 3;

    Direction direction_;
    std::uint64_t count_; // elements of each array
    Shuffle order_;
    device::Buffer<double> to_;
    device::Buffer<double> from_;
    device::Buffer<std::uint32_t> index_;
    Picks spoils_{gather_data::spoil_seed};
};

} // namespace

extern constinit const assay_benchmark device_gather = define<DeviceGather>();

} // namespace assay::memory
