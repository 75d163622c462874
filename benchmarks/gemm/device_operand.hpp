// SPDX-License-Identifier: Apache-2.0
//
// How matrices of every precision lie in the memory of a device, element by element: what is written there
// from random numbers, and what stands there read back as a number. Shared by hosts and devices.
//
// All matrices are stored in rows of `inner` consecutive elements: A and B along k, so that the product is
// "TN" in the words of BLAS, which every precision can do; C along the rows of A.

#pragma once

#include "device/narrow_float.hpp"

#include <assay/host_device.hpp>
#include <assay/random.hpp>

#include <cmath>
#include <cstdint>

namespace assay::gemm {

enum class Storage : std::uint8_t {
    fp64,
    fp32,
    tf32, // fp32 whose lower 13 bits are zero
    fp16,
    bf16,
    e4m3,
    e5m2,
    int8,
    int32,
    mx_e4m3, // 32 elements share a power of two
    nv_e2m1  // 16 elements, two in a byte, share an e4m3 number
};

ASSAY_HOST_DEVICE constexpr int bits_of(Storage storage) {
    switch (storage) {
    case Storage::fp64:
        return 64;
    case Storage::fp32:
    case Storage::tf32:
    case Storage::int32:
        return 32;
    case Storage::fp16:
    case Storage::bf16:
        return 16;
    case Storage::nv_e2m1:
        return 4;
    default:
        return 8;
    }
}

/// Elements that share a scale; 0 where none do.
ASSAY_HOST_DEVICE constexpr int block_of(Storage storage) {
    return storage == Storage::mx_e4m3 ? 32 : storage == Storage::nv_e2m1 ? 16 : 0;
}

/// Where the scale of block `block` of a row lies: in tiles of 128 rows by 4 blocks, one after the other
/// along the row, and in a tile every fourth of its rows together (cuBLAS 12.8, "1D block scaling
/// factors layout").
ASSAY_HOST_DEVICE constexpr std::uint64_t scale_offset(std::uint64_t row, std::uint64_t block,
                                                       std::uint64_t blocks) {
    const std::uint64_t tile = row / 128 * ((blocks + 3) / 4) + block / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}

struct Operand {
    Storage storage = Storage::fp64;
    void* data = nullptr;
    std::uint8_t* scales = nullptr;
    std::uint64_t inner = 0; ///< length of a row
    std::uint64_t rows = 0;
};

constexpr std::uint64_t data_bytes(Storage storage, std::uint64_t elements) {
    return elements * static_cast<std::uint64_t>(bits_of(storage)) / 8;
}
constexpr std::uint64_t scale_bytes(Storage storage, std::uint64_t rows, std::uint64_t inner) {
    const auto block = static_cast<std::uint64_t>(block_of(storage));
    if (block == 0) return 0;
    const std::uint64_t blocks = (inner + block - 1) / block;
    return (rows + 127) / 128 * 128 * ((blocks + 3) / 4 * 4);
}

/// Standard deviation of the random int8 numbers: four of them are the largest.
inline constexpr double int8_deviation = 127.0 / 4;

ASSAY_HOST_DEVICE inline double clamped_int8(double value) {
    const double rounded = std::rint(value);
    return rounded > 127 ? 127 : rounded < -127 ? -127 : rounded;
}

namespace detail {

template <class T, class Value>
ASSAY_HOST_DEVICE void put(const Operand& to, std::uint64_t at, Value value) {
    static_cast<T*>(to.data)[at] = static_cast<T>(value);
}

} // namespace detail

/// The number at `at`, for every storage without blocks.
ASSAY_HOST_DEVICE inline void store(const Operand& to, std::uint64_t at, double value) {
    switch (to.storage) {
    case Storage::fp64:
        return detail::put<double>(to, at, value);
    case Storage::fp32:
        return detail::put<float>(to, at, value);
    case Storage::tf32:
        return detail::put<float>(
            to, at,
            device::decode(device::tf32_format(), device::encode(device::tf32_format(), value)));
    case Storage::fp16:
        return detail::put<std::uint16_t>(to, at, device::encode(device::fp16_format(), value));
    case Storage::bf16:
        return detail::put<std::uint16_t>(to, at, device::encode(device::bf16_format(), value));
    case Storage::e4m3:
        return detail::put<std::uint8_t>(to, at, device::encode(device::e4m3_format(), value));
    case Storage::e5m2:
        return detail::put<std::uint8_t>(to, at, device::encode(device::e5m2_format(), value));
    case Storage::int8:
        return detail::put<std::int8_t>(to, at, clamped_int8(value * int8_deviation));
    case Storage::int32:
        return detail::put<std::int32_t>(to, at, value);
    case Storage::mx_e4m3:
    case Storage::nv_e2m1:
        return; // store_block()
    }
}

namespace detail {

/// The power of two that brings the largest number of the block to 256 or more, below 512; what is then above
/// 448 becomes 448 (OCP microscaling formats 1.0, section 6.3).
ASSAY_HOST_DEVICE inline std::uint32_t mx_scale(double largest) {
    if (!(largest > 0)) return 127;
    constexpr int exponent_of_448 = 8;
    const int code = std::ilogb(largest) - exponent_of_448 + 127;
    return code < 0 ? 0U : code > 254 ? 254U : static_cast<std::uint32_t>(code);
}

/// The e4m3 number that brings the largest number of the block to 6, the largest e2m1.
ASSAY_HOST_DEVICE inline std::uint32_t nv_scale(double largest) {
    const std::uint32_t code = device::encode(device::e4m3_format(), largest / 6);
    return code > 0 ? code : 1U; // a scale of 0 would be no scale
}

} // namespace detail

/// One block of consecutive elements of a row, with their common scale; value(i) is element i of it.
template <class Value>
ASSAY_HOST_DEVICE void store_block(const Operand& to, std::uint64_t row, std::uint64_t block,
                                   const Value& value) {
    const auto length = static_cast<std::uint64_t>(block_of(to.storage));
    const std::uint64_t blocks = to.inner / length;
    double largest = 0;
    for (std::uint64_t i = 0; i < length; ++i) largest = std::fmax(largest, std::fabs(value(i)));
    const bool is_mx = to.storage == Storage::mx_e4m3;
    const std::uint32_t code = is_mx ? detail::mx_scale(largest) : detail::nv_scale(largest);
    const double scale =
        is_mx ? device::decode_e8m0(code) : device::decode(device::e4m3_format(), code);
    to.scales[scale_offset(row, block, blocks)] = static_cast<std::uint8_t>(code);
    auto* bytes = static_cast<std::uint8_t*>(to.data);
    const std::uint64_t first = row * to.inner + block * length;
    if (is_mx) {
        for (std::uint64_t i = 0; i < length; ++i)
            bytes[first + i] =
                static_cast<std::uint8_t>(device::encode(device::e4m3_format(), value(i) / scale));
        return;
    }
    for (std::uint64_t i = 0; i < length; i += 2) // the first of two lies in the lower half
        bytes[(first + i) / 2] = static_cast<std::uint8_t>(
            device::encode(device::e2m1_format(), value(i) / scale) |
            device::encode(device::e2m1_format(), value(i + 1) / scale) << 4U);
}

/// Element `at` of row `row`, as the number it stands for.
ASSAY_HOST_DEVICE inline double load(const Operand& from, std::uint64_t row, std::uint64_t at) {
    const std::uint64_t i = row * from.inner + at;
    const auto* bytes = static_cast<const std::uint8_t*>(from.data);
    switch (from.storage) {
    case Storage::fp64:
        return static_cast<const double*>(from.data)[i];
    case Storage::fp32:
    case Storage::tf32:
        return static_cast<double>(static_cast<const float*>(from.data)[i]);
    case Storage::fp16:
        return device::decode(device::fp16_format(),
                              static_cast<const std::uint16_t*>(from.data)[i]);
    case Storage::bf16:
        return device::decode(device::bf16_format(),
                              static_cast<const std::uint16_t*>(from.data)[i]);
    case Storage::e4m3:
        return device::decode(device::e4m3_format(), bytes[i]);
    case Storage::e5m2:
        return device::decode(device::e5m2_format(), bytes[i]);
    case Storage::int8:
        return static_cast<double>(static_cast<const std::int8_t*>(from.data)[i]);
    case Storage::int32:
        return static_cast<double>(static_cast<const std::int32_t*>(from.data)[i]);
    case Storage::mx_e4m3:
        return device::decode(device::e4m3_format(), bytes[i]) *
               device::decode_e8m0(from.scales[scale_offset(row, at / 32, from.inner / 32)]);
    case Storage::nv_e2m1:
        return device::decode(device::e2m1_format(),
                              i % 2 == 0 ? bytes[i / 2] & 0xfU : bytes[i / 2] >> 4U) *
               device::decode(device::e4m3_format(),
                              from.scales[scale_offset(row, at / 16, from.inner / 16)]);
    }
    return 0;
}

/// Writes its share of a matrix of standard normal numbers: an element, or a block where a scale is shared.
struct FillNormal {
    Operand to;
    std::uint64_t seed;

    /// How many shares there are.
    std::uint64_t count() const {
        const auto block = static_cast<std::uint64_t>(block_of(to.storage));
        return to.rows * to.inner / (block == 0 ? 1 : block);
    }
    ASSAY_HOST_DEVICE void operator()(std::uint64_t share) const {
        const auto block = static_cast<std::uint64_t>(block_of(to.storage));
        if (block == 0) {
            store(to, share, random_normal<double>(seed, share));
            return;
        }
        const std::uint64_t blocks = to.inner / block;
        const std::uint64_t first = share * block;
        const std::uint64_t from = seed;
        store_block(to, share / blocks, share % blocks,
                    [=](std::uint64_t i) { return random_normal<double>(from, first + i); });
    }
};

} // namespace assay::gemm
