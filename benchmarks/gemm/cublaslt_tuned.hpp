// SPDX-License-Identifier: Apache-2.0
//
// A product with its matrices on the device, the algorithm chosen by trial, the clock and the check: what
// benchmarks of cuBLASLt have in common.

#pragma once

#include "device/clock.hpp"
#include "device/properties.hpp"
#include "gemm/cublaslt_product.hpp"
#include "gemm/fastest.hpp"

#include <assay/benchmark.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::gemm {

/// Conditions that a case fixes beside the shape.
struct Conditions {
    DevicePrecision precision = DevicePrecision::bf16;
    Accumulation accumulation = Accumulation::exact;
    Data data = Data::normal;
    device::Caches caches = device::Caches::hot;
    device::Load load = device::Load::sustained;
};

/// Can this device multiply matrices of all these shapes? `shapes` is not empty.
Fit fits_product(const Conditions& conditions, std::span<const Shape> shapes);

/// How a benchmark queues products, and so its trial: some need a second operation, which clears a few bytes and takes
/// longer in a graph.
enum class Queued : std::uint8_t { plain, in_graph };

/// A product by one of the algorithms that the library offers: the one that it thinks best, or the fastest by trial.
/// Everything that it is given must outlive it.
class ChosenProduct {
public:
    /// Throws if the library offers no algorithm.
    ChosenProduct(const Library& library, const Conditions& conditions, const Operands& operands,
                  const Scratch& scratch, const device::Stream& stream, device::EventClock& clock);

    /// The fastest of the first `most` algorithms by trial. Throws where none works.
    Trial tune(std::size_t most, const TrialLimits& limits, Queued queued = Queued::plain) {
        return tune({this}, most, limits, queued);
    }
    /// The same for several products of one shape, timed one after the other, so that no matrix is in a cache that is
    /// not there in use; seconds are those of all.
    static Trial tune(const std::vector<ChosenProduct*>& products, std::size_t most,
                      const TrialLimits& limits, Queued queued = Queued::plain);
    void queue() const { product_.queue(algorithm_, stream_); }

    std::size_t algorithm() const { return algorithm_; } ///< its place in the library's list
    AlgorithmConfig config() const { return product_.config(algorithm_); }
    std::string arithmetic() const { return product_.arithmetic(algorithm_); }

private:
    static double time(const std::vector<ChosenProduct*>& products, std::size_t algorithm,
                       Queued queued);

    const device::Stream& stream_;
    device::EventClock& clock_;
    Shape shape_;
    Product product_;
    std::size_t algorithm_ = 0;
    std::vector<bool> is_loaded_; // by algorithm: it was called once
};

class TunedProduct {
public:
    /// Takes memory for the largest shape; shape() comes before anything else.
    TunedProduct(const Conditions& conditions, std::span<const Shape> shapes);

    /// The product of another shape, with the algorithm that the library thinks best.
    void shape(const Shape& shape);
    Trial tune(std::size_t most, const TrialLimits& limits) { return product_->tune(most, limits); }

    device::EventClock& clock() { return clock_; }
    void run() const { product_->queue(); }
    Work work() const { return product_work(conditions_.precision, shape_); }
    Check verify() const;
    Outputs outputs() const;
    void poison() const;
    void spoil();

    /// The algorithm chosen, the number to choose from, and how it calculates.
    void describe(const Context& context, const Trial& trial) const;

private:
    Tolerance tolerance() const;
    std::int32_t mantissa_bits() const;
    void forget_mantissa_bits() const;

    Conditions conditions_;
    device::Properties device_;
    device::Stream stream_;
    device::EventClock clock_;
    Library library_;
    DeviceMatrices matrices_;
    device::Buffer<std::uint8_t> workspace_;
    device::Buffer<std::int32_t> mantissa_bits_;
    std::unique_ptr<ChosenProduct> product_;
    Shape shape_;
};

} // namespace assay::gemm
