// SPDX-License-Identifier: Apache-2.0

#include "device/place.hpp"
#include "device/properties.hpp"
#include "device/random.hpp"
#include "device/trial.hpp"
#include "memory/device_stream_kernels.hpp"
#include "memory/stream_data.hpp"

#include <assay/define.hpp>
#include <assay/units.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace assay::memory {
namespace {

using namespace units;

class DeviceStream : public device::OnDevice {
public:
    struct Params {
        Kernel kernel = Kernel::triad;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.stream",
        .question = "What is the sustained memory bandwidth of this device?",
        .method = "BabelStream's loops (copy, scale, add, triad, dot, nstream), and read and write "
                  "alone, on fp64 arrays of uniform random numbers, each of at least 1 GiB and "
                  "four times the second-level cache. The fastest number and size of blocks, loads "
                  "per thread and cache hint in a short trial are used. Every element is compared "
                  "bit for bit on the device with its recomputation from the random seed; dot and "
                  "read with a compensated sum, within u*(sqrt(n)+16).",
        .caveats = "Counts the bytes the loop requests. Footprints that fit in the second-level "
                   "cache measure that cache.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = "cuda",
        .trial_bytes = 512_KiB,
        .bound = Bound::memory,
    };
    static constexpr std::tuple axes{
        choice("kernel",
               "loop: copy a=b, scale a=s*b, add a=b+c, triad a=b+s*c, dot, nstream a+=b+s*c, "
               "read, write",
               &Params::kernel,
               {Name{"copy", Kernel::copy}, Name{"scale", Kernel::scale}, Name{"add", Kernel::add},
                Name{"triad", Kernel::triad}, Name{"dot", Kernel::dot},
                Name{"nstream", Kernel::nstream}, Name{"read", Kernel::read},
                Name{"write", Kernel::write}}),
        footprint_axis("bytes over all arrays", &Params::footprint, {Symbol::beyond_cache},
                       {64_KiB, 16_TiB}),
    };
    /// nstream adds less than 6 in a call, so that 2^20 calls stay far from every limit of fp64.
    static constexpr std::uint64_t safe_calls = 1U << 20U;
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const auto bytes =
            p.footprint.symbol == Symbol::none ? p.footprint.number : arrays_of(p.kernel) * 256_MiB;
        return device::fits_device(bytes);
    }

    DeviceStream(const Params& p, const Context& context)
        : kernel_{p.kernel}, device_{device::properties()}, count_{elements_of(p, device_)},
          out_{is_sum(kernel_) ? 0 : count_}, left_{kernel_ == Kernel::write ? 0 : count_},
          right_{reads_right(kernel_) ? count_ : 0}, partial_{most_blocks(device_)}, sum_{1} {
        fill(left_, stream_data::left_seed);
        fill(right_, stream_data::right_seed);
        stream_.wait();
        choose_shape();
        const double footprint =
            static_cast<double>(arrays_of(kernel_)) * static_cast<double>(count_ * sizeof(double));
        context.setting("footprint", footprint);
        context.tell({.footprint_bytes = footprint});
        context.setting("elements", count_);
        context.setting("blocks", shape_.blocks);
        context.setting("block_threads", shape_.threads);
        context.setting("loads_per_thread", shape_.unroll);
        context.setting("cache_hint", shape_.evict_first ? "evict_first" : "none");
    }

    void run() {
        const StreamArrays arrays{.out = out_.data(),
                                  .left = left_.data(),
                                  .right = right_.data(),
                                  .partial = partial_.data(),
                                  .sum = sum_.data(),
                                  .count = count_};
        launch_stream(kernel_, arrays, shape_, stream_);
        ++calls_;
    }

    Work work() const {
        const auto n = static_cast<double>(count_);
        return {.flops = flops_per_element(kernel_) * n, .bytes = bytes_per_element(kernel_) * n};
    }

    Check verify() const {
        if (is_sum(kernel_)) return verify_sum();
        if (Check calls = check_calls(kernel_, calls_); !calls.passed) return calls;
        return check_stream(kernel_, out_.data(), count_, calls_, stream_);
    }

    void poison() {
        if (!is_sum(kernel_))
            check(cudaMemsetAsync(out_.data(), 0xff, out_.bytes(), stream_.get())); // NaN
        device::set_bytes(sum_, 0xff, stream_);
        is_initial_ = false;
    }

    /// One bit of one element; of a sum, twice the bound.
    void spoil() {
        double* at = is_sum(kernel_)
                         ? sum_.data()
                         : out_.data() + random_bits(stream_data::spoil_seed, spoils_++) % count_;
        double value = device::get(at, stream_);
        value = is_sum(kernel_) ? value * (1 + 2 * sum_bound(count_))
                                : std::nextafter(value, 2 * value);
        device::put(value, at, stream_);
        is_initial_ = false;
    }

    /// Only nstream reads what it writes; elsewhere there is nothing to restore.
    void rewind() {
        const bool is_done = is_initial_ && calls_ == 0;
        calls_ = 0;
        if (kernel_ != Kernel::nstream || is_done) return;
        fill(out_, stream_data::out_seed);
        stream_.wait();
        is_initial_ = true;
    }

private:
    void fill(const device::Buffer<double>& array, std::uint64_t seed) const {
        device::fill_uniform(stream_, array, seed, stream_data::low, stream_data::high);
    }
    static std::size_t elements_of(const Params& p, const device::Properties& found) {
        const std::int64_t arrays = arrays_of(p.kernel);
        return stream_elements(device::footprint(p.footprint, arrays, found) / arrays);
    }
    static std::size_t most_blocks(const device::Properties& found) {
        std::size_t most = 0;
        for (const StreamShape& shape : reduction_shapes(found.multiprocessors))
            most = std::max(most, static_cast<std::size_t>(shape.blocks));
        return most;
    }

    /// The fastest of a handful of launch shapes, by trial on these very arrays.
    void choose_shape() {
        const auto shapes =
            is_sum(kernel_) ? reduction_shapes(device_.multiprocessors) : map_shapes(count_);
        shape_ = shapes[device::fastest_of(clock_, shapes.size(), [&](std::size_t i) {
            shape_ = shapes[i];
            run();
        })];
        is_initial_ = false;
        rewind();
    }

    Check verify_sum() const {
        const double got = device::to_host(sum_, stream_).front();
        return check_sum(got, exact_sum(kernel_, count_, stream_), count_);
    }
    static void check(cudaError_t status) { device::check(status); }

    Kernel kernel_;
    device::Properties device_;
    std::size_t count_; // elements of each array
    device::Buffer<double> out_;
    device::Buffer<double> left_;
    device::Buffer<double> right_;
    device::Buffer<double> partial_; // a sum for each block
    device::Buffer<double> sum_;
    StreamShape shape_;
    bool is_initial_ = false; // out_ holds its random start values
    std::uint64_t calls_ = 0; // since the last rewind
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark device_stream = define<DeviceStream>();

} // namespace assay::memory
