// SPDX-License-Identifier: Apache-2.0
//
// The three matrices of a product on a device: random and the same in every process, and the check of what was
// made of them.

#pragma once

#include "device/handles.hpp"
#include "gemm/device_check.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::gemm {

/// Zeros show how much data costs: chips run them faster, because nothing switches.
enum class Data : std::uint8_t { normal, zeros };

struct Operands {
    Operand a;
    Operand b;
    Operand c;                   ///< a row for each column of the product, as BLAS stores it
    const void* bias = nullptr;  ///< of the type of C: added to each row of it
    const void* added = nullptr; ///< laid out as C: added to it
    // A matrix with a row for each step of the sums, where the usual one has a row for each row or column of the product.
    bool a_by_steps = false;
    bool b_by_steps = false;
    float scale = 1;       ///< of the product, before anything is added; where sums are fp32
    bool has_gelu = false; ///< what the library's epilogue says is GELU comes last; with a bias
};

class DeviceMatrices {
public:
    /// Takes memory for the largest of the shapes, and fills it for the first.
    DeviceMatrices(const device::Stream& stream, DevicePrecision precision, Data data,
                   std::span<const Shape> shapes);
    /// The same memory as matrices of another shape.
    void reshape(const Shape& shape);

    const Operands& operands() const { return operands_; }
    Check check(const Tolerance& tolerance) const;
    /// No number, or one that no product can be.
    void poison() const;
    /// One element, off by four times what is allowed, or by one.
    void spoil(const Tolerance& tolerance);

private:
    void fill(const Operand& operand, std::uint64_t seed) const;

    const device::Stream& stream_;
    DevicePrecision precision_;
    Data data_;
    device::Buffer<std::uint8_t> a_;
    device::Buffer<std::uint8_t> b_;
    device::Buffer<std::uint8_t> c_;
    device::Buffer<std::uint8_t> a_scales_;
    device::Buffer<std::uint8_t> b_scales_;
    Shape shape_;
    Operands operands_;
    bool is_filled_ = false;
    std::uint64_t spoils_ = 0;
};

// --- what the device does for it (device_matrices.cu) ---------------------------------------------

/// Queues the filling of a matrix with normal numbers.
void fill_normal(const device::Stream& stream, const Operand& operand, std::uint64_t seed);

/// The samples [first, first + count) of C, and what they should be.
std::vector<Entry> sampled_entries(const device::Stream& stream, const Operands& operands,
                                   const Sampling& sampling, std::uint64_t first,
                                   std::uint64_t count);

/// C r and A (B^T r), and squares: for each row of A, and for each column of B^T.
template <class Sum>
struct RowReport {
    std::vector<Sum> found;
    std::vector<Sum> expected;
    std::vector<Sum> square_a;
    std::vector<Sum> square_b;
};
template <class Sum>
RowReport<Sum> row_report(const device::Stream& stream, const Operands& operands);
extern template RowReport<double> row_report(const device::Stream&, const Operands&);
extern template RowReport<std::uint64_t> row_report(const device::Stream&, const Operands&);

} // namespace assay::gemm
