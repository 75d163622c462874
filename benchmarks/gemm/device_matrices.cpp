// SPDX-License-Identifier: Apache-2.0

#include "gemm/device_matrices.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace assay::gemm {
namespace {

constexpr std::uint64_t a_seed = 1;
constexpr std::uint64_t b_seed = 2;
constexpr std::uint64_t spoil_seed = 3;

using Bytes = device::Buffer<std::uint8_t>;

std::uint64_t as_count(std::int64_t length) { return static_cast<std::uint64_t>(length); }

/// Room for the largest of all shapes; `bytes` says what one takes.
template <class BytesOf>
Bytes room(std::span<const Shape> shapes, const BytesOf& bytes) {
    std::uint64_t most = 0;
    for (const Shape& shape : shapes) most = std::max(most, bytes(shape));
    return Bytes{static_cast<std::size_t>(most)};
}

std::uint64_t data_of(Storage storage, std::int64_t rows, std::int64_t inner) {
    return data_bytes(storage, as_count(rows) * as_count(inner));
}
std::uint64_t scales_of(Storage storage, std::int64_t rows, std::int64_t inner) {
    return scale_bytes(storage, as_count(rows), as_count(inner));
}

/// The byte that scales of zeros have: 1, as e8m0 and as e4m3.
constexpr int scale_of_one(Storage storage) { return storage == Storage::mx_e4m3 ? 0x7f : 0x38; }

} // namespace

DeviceMatrices::DeviceMatrices(const device::Stream& stream, DevicePrecision precision, Data data,
                               std::span<const Shape> shapes)
    : stream_{stream}, precision_{precision}, data_{data} {
    const PrecisionSpec spec = spec_of(precision);
    a_ = room(shapes, [&](const Shape& s) { return data_of(spec.a, s.m, s.k); });
    b_ = room(shapes, [&](const Shape& s) { return data_of(spec.b, s.n, s.k); });
    c_ = room(shapes, [&](const Shape& s) { return data_of(spec.c, s.n, s.m); });
    a_scales_ = room(shapes, [&](const Shape& s) { return scales_of(spec.a, s.m, s.k); });
    b_scales_ = room(shapes, [&](const Shape& s) { return scales_of(spec.b, s.n, s.k); });
    reshape(shapes.front());
}

void DeviceMatrices::reshape(const Shape& shape) {
    const PrecisionSpec spec = spec_of(precision_);
    const bool is_same = is_filled_ && shape == shape_;
    shape_ = shape;
    operands_ = {.a = {spec.a, a_.data(), a_scales_.data(), as_count(shape.k), as_count(shape.m)},
                 .b = {spec.b, b_.data(), b_scales_.data(), as_count(shape.k), as_count(shape.n)},
                 .c = {spec.c, c_.data(), nullptr, as_count(shape.m), as_count(shape.n)}};
    if (is_same) return;
    fill(operands_.a, a_seed);
    fill(operands_.b, b_seed);
    stream_.wait();
    is_filled_ = true;
}

void DeviceMatrices::fill(const Operand& operand, std::uint64_t seed) const {
    if (data_ == Data::normal) return fill_normal(stream_, operand, seed);
    device::check(cudaMemsetAsync(
        operand.data, 0, data_bytes(operand.storage, operand.rows * operand.inner), stream_.get()));
    if (operand.scales != nullptr)
        device::check(cudaMemsetAsync(operand.scales, scale_of_one(operand.storage),
                                      scale_bytes(operand.storage, operand.rows, operand.inner),
                                      stream_.get()));
}

Check DeviceMatrices::check(const Tolerance& tolerance) const {
    const Sampling sampling = sampling_of(shape_.m, shape_.n);
    const auto entries = sampled_entries(stream_, operands_, sampling, 0, sampling.count());
    Check elements = check_entries(entries, tolerance, shape_.k);
    if (!elements.passed) return elements;
    Check rows;
    if (operands_.c.storage == Storage::int32) {
        const auto report = row_report<std::uint64_t>(stream_, operands_);
        rows = check_rows_exactly({.found = report.found, .expected = report.expected});
    } else {
        const auto report = row_report<double>(stream_, operands_);
        const double square_b =
            std::accumulate(report.square_b.begin(), report.square_b.end(), 0.0);
        rows = check_rows({.found = report.found, .expected = report.expected}, report.square_a,
                          square_b, tolerance, shape_);
    }
    return rows.passed ? elements : rows;
}

void DeviceMatrices::poison() const {
    // Read as int32, a number below every sum of 65536 products of int8; NaN in every other format.
    const int byte = operands_.c.storage == Storage::int32 ? 0x80 : 0xff;
    device::check(cudaMemsetAsync(operands_.c.data, byte,
                                  data_of(operands_.c.storage, shape_.n, shape_.m), stream_.get()));
    stream_.wait();
}

void DeviceMatrices::spoil(const Tolerance& tolerance) {
    const Sampling sampling = sampling_of(shape_.m, shape_.n);
    const std::uint64_t sample = random_bits(spoil_seed, spoils_++) % sampling.count();
    const Entry entry = sampled_entries(stream_, operands_, sampling, sample, 1).front();
    const Position at = sample_at(sampling, sample);
    const double allowed = allowed_error(entry, tolerance, shape_.k);
    // C was rounded once and may be off by the bound itself, and this is rounded again.
    const double damage = allowed > 0 ? 4 * allowed : 1;
    std::array<std::byte, sizeof(double)> bytes{};
    Operand one = operands_.c;
    one.data = bytes.data();
    store(one, 0, entry.got + damage);
    const std::size_t size = data_bytes(one.storage, 1);
    device::to_device(std::span<const std::byte>{bytes}.first(size),
                      static_cast<std::byte*>(operands_.c.data) +
                          size * (at.column * operands_.c.inner + at.row),
                      stream_);
}

} // namespace assay::gemm
