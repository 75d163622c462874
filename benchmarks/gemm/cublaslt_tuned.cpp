// SPDX-License-Identifier: Apache-2.0

#include "gemm/cublaslt_tuned.hpp"

#include "device/graph.hpp"
#include "device/holding.hpp"
#include "device/output.hpp"
#include "gemm/device_axes.hpp"
#include "gemm/product_shapes.hpp"

#include <assay/define.hpp>

namespace assay::gemm {
namespace {

std::size_t workspace_for(DevicePrecision precision, std::span<const Shape> shapes) {
    std::int64_t most = 0;
    for (const Shape& shape : shapes) most = std::max(most, workspace_bytes(precision, shape));
    return static_cast<std::size_t>(most);
}

device::EventClock::Options clock_options(const Conditions& conditions,
                                          const device::Properties& device) {
    // An emulated product is a dozen kernels, and a batch of them would fill the queue behind a kernel
    // that waits. They take far longer than a launch.
    return {.caches = conditions.caches,
            .load = conditions.load,
            .launching = is_emulated(conditions.precision) ? device::Launching::plain
                                                           : device::Launching::hidden,
            .l2_bytes = device.l2_bytes,
            .operations = 4}; // sums split along k: they are cleared, made, and put together
}

/// The value that emulation writes when it did not take place, and the byte that stands there before.
constexpr std::int32_t not_emulated = -1;
constexpr int unwritten_byte = 0xee;

} // namespace

Fit fits_product(const Conditions& conditions, std::span<const Shape> shapes) {
    const DevicePrecision precision = conditions.precision;
    const PrecisionSpec spec = spec_of(precision);
    std::int64_t bytes = 0;
    for (const Shape& shape : shapes) bytes = std::max(bytes, matrix_bytes(precision, shape));
    bytes += static_cast<std::int64_t>(workspace_for(precision, shapes));
    if (const Fit fit = device::fits_device(bytes, spec.capability); !fit) return fit;
    if (!why_no_library().empty()) return Fit::no("not applicable: " + why_no_library());
    for (const Shape& shape : shapes)
        if (const Fit fit = allowed(precision, conditions.accumulation, shape, cublas_version());
            !fit)
            return fit;
    // The library gets addresses, but nothing is read or written there.
    const device::Buffer<std::uint8_t> stand_in{512};
    const Shape& first = shapes.front();
    const auto operand = [&](Storage storage, std::int64_t rows, std::int64_t inner) {
        return Operand{storage, stand_in.data(), stand_in.data(), static_cast<std::uint64_t>(inner),
                       static_cast<std::uint64_t>(rows)};
    };
    const Library library = open_library();
    const Product product{library,
                          precision,
                          conditions.accumulation,
                          {.a = operand(spec.a, first.m, first.k),
                           .b = operand(spec.b, first.n, first.k),
                           .c = operand(spec.c, first.n, first.m)},
                          {.workspace = stand_in.data(),
                           .bytes = workspace_for(precision, shapes),
                           .mantissa_bits = reinterpret_cast<std::int32_t*>(stand_in.data())}};
    if (product.algorithms() == 0) return Fit::no("not applicable: " + product.why_none());
    return Fit::yes();
}

ChosenProduct::ChosenProduct(const Library& library, const Conditions& conditions,
                             const Operands& operands, const Scratch& scratch,
                             const device::Stream& stream, device::EventClock& clock)
    : stream_{stream}, clock_{clock},
      shape_{static_cast<std::int64_t>(operands.c.inner),
             static_cast<std::int64_t>(operands.c.rows),
             static_cast<std::int64_t>(operands.a_by_steps ? operands.a.rows : operands.a.inner)},
      product_{library, conditions.precision, conditions.accumulation, operands, scratch},
      is_loaded_(product_.algorithms(), false) {
    if (product_.algorithms() == 0) throw LibraryError{product_.why_none()};
}

/// Seconds of one call of each, infinite where the library refuses. The first call of an algorithm loads its
/// kernels, which waits for the device and must not happen behind a kernel that waits for us.
double ChosenProduct::time(const std::vector<ChosenProduct*>& products, std::size_t algorithm,
                           Queued queued) {
    ChosenProduct& first = *products.front();
    for (ChosenProduct* product : products) product->algorithm_ = algorithm;
    const auto queue = [&] {
        for (const ChosenProduct* product : products) product->queue();
    };
    try {
        if (!first.is_loaded_[algorithm]) {
            queue();
            first.stream_.wait();
            first.is_loaded_[algorithm] = true;
        }
        const double once = first.clock_.seconds(1, queue);
        constexpr double enough = 2e-3; // s: a thousand times what the clock resolves
        const double more = std::clamp(std::floor(enough / once), 0.0, 64.0);
        if (more < 2) return once;
        const auto calls = static_cast<std::uint64_t>(more);
        if (queued == Queued::plain)
            return first.clock_.seconds(calls, queue) / static_cast<double>(calls);
        // Two operations each at most; all of them are behind a stream that is held back.
        const std::uint64_t some =
            std::min(calls, device::held_calls(static_cast<int>(2 * products.size())));
        const device::Graph graph{first.stream_, [&] {
                                      for (std::uint64_t i = 0; i < some; ++i) queue();
                                  }};
        return first.clock_.seconds(1, [&] { graph.launch(first.stream_); }) /
               static_cast<double>(some);
    } catch (const LibraryError&) {
        cudaGetLastError(); // a launch that failed is not the fault of the next algorithm
        return std::numeric_limits<double>::infinity();
    }
}

Trial ChosenProduct::tune(const std::vector<ChosenProduct*>& products, std::size_t most,
                          const TrialLimits& limits, Queued queued) {
    const ChosenProduct& first = *products.front();
    const std::size_t count = std::min(most, first.product_.algorithms());
    Trial trial = find_fastest(
        count,
        [&](std::size_t algorithm, double& spent) {
            const Stopwatch watch;
            const double seconds = time(products, algorithm, queued);
            spent += watch.seconds();
            return seconds;
        },
        limits);
    if (!trial.fastest) {
        first.stream_.wait(); // where the device is lost, that is the reason
        throw LibraryError{joined("none of the ", count, " algorithms that cuBLASLt offers for ",
                                  shape_text(first.shape_), " works")};
    }
    for (ChosenProduct* product : products) product->algorithm_ = *trial.fastest;
    return trial;
}

TunedProduct::TunedProduct(const Conditions& conditions, std::span<const Shape> shapes)
    : conditions_{conditions}, device_{device::properties()},
      clock_{stream_, clock_options(conditions, device_)}, library_{open_library()},
      matrices_{stream_, conditions.precision, conditions.data, shapes},
      workspace_{workspace_for(conditions.precision, shapes)}, mantissa_bits_{1} {
    forget_mantissa_bits();
}

void TunedProduct::shape(const Shape& shape) {
    product_.reset(); // it refers to the matrices
    shape_ = shape;
    matrices_.reshape(shape);
    product_ = std::make_unique<ChosenProduct>(library_, conditions_, matrices_.operands(),
                                               Scratch{.workspace = workspace_.data(),
                                                       .bytes = workspace_.bytes(),
                                                       .mantissa_bits = mantissa_bits_.data()},
                                               stream_, clock_);
}

Tolerance TunedProduct::tolerance() const {
    return tolerance_of(conditions_.precision, conditions_.accumulation, shape_.k);
}

std::int32_t TunedProduct::mantissa_bits() const {
    return device::to_host(mantissa_bits_, stream_).front();
}

Check TunedProduct::verify() const {
    if (conditions_.precision == DevicePrecision::fp64_emulated && mantissa_bits() <= 0)
        return check_value(1, 0, "the number of mantissa bits that emulation reports",
                           mantissa_bits() == not_emulated
                               ? "the library did not emulate: it reports -1 mantissa bits"
                               : "the library reports no number of mantissa bits");
    return matrices_.check(tolerance());
}

void TunedProduct::forget_mantissa_bits() const {
    device::check(cudaMemsetAsync(mantissa_bits_.data(), unwritten_byte, mantissa_bits_.bytes(),
                                  stream_.get()));
}

Outputs TunedProduct::outputs() const {
    const Operand& c = matrices_.operands().c;
    const auto element = static_cast<std::size_t>(bits_of(c.storage)) / 8;
    return {device::output(c.data, c.inner * c.rows * element, element, stream_)};
}

void TunedProduct::poison() const {
    forget_mantissa_bits();
    matrices_.poison();
}

void TunedProduct::spoil() { matrices_.spoil(tolerance()); }

void TunedProduct::describe(const Context& context, const Trial& trial) const {
    if (conditions_.load == device::Load::sustained)
        context.sustained(device::powerful_batch, sustained_load);
    context.setting("algorithm", text_of(product_->config()));
    const std::string arithmetic = product_->arithmetic();
    if (!arithmetic.empty()) context.setting("arithmetic", arithmetic);
    context.setting("algorithms_tried", trial.seconds.size());
    context.setting("algorithm_place", product_->algorithm() + 1);
    context.setting("workspace_bytes", workspace_.bytes());
    if (conditions_.precision == DevicePrecision::fp64_emulated)
        context.setting("mantissa_bits", mantissa_bits());
}

} // namespace assay::gemm
