// SPDX-License-Identifier: Apache-2.0
//
// Numbers of few bits, and matrices of them in the memory of a device: what is written is the nearest number,
// and what is read is what was written, scales and halves of bytes included.
#include "gemm/device_operand.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace assay::gemm {
namespace {

using namespace device;

constexpr NarrowFloat formats[] = {fp16_format(), bf16_format(),     e4m3_format(),
                                   e5m2_format(), e4m3fnuz_format(), e5m2fnuz_format(),
                                   e2m1_format()};

TEST(NarrowFloat, KnownCodesAreTheNumbersOfTheirStandards) {
    EXPECT_EQ(decode(e4m3_format(), 0x38), 1.0);
    EXPECT_EQ(decode(e4m3_format(), 0x7e), 448.0);
    EXPECT_EQ(decode(e4m3_format(), 0x01), 0x1p-9);
    EXPECT_EQ(decode(e4m3_format(), 0xc0), -2.0);
    EXPECT_TRUE(std::isnan(decode(e4m3_format(), 0x7f)));
    EXPECT_EQ(decode(e5m2_format(), 0x3c), 1.0);
    EXPECT_EQ(decode(e5m2_format(), 0x7b), 57344.0);
    EXPECT_EQ(decode(e5m2_format(), 0x01), 0x1p-16);
    EXPECT_TRUE(std::isnan(decode(e5m2_format(), 0x7c))) << "an infinity is not a result";
    EXPECT_EQ(decode(e4m3fnuz_format(), 0x40), 1.0);
    EXPECT_EQ(decode(e4m3fnuz_format(), 0x7f), 240.0);
    EXPECT_EQ(decode(e4m3fnuz_format(), 0x01), 0x1p-10);
    EXPECT_EQ(decode(e5m2fnuz_format(), 0x7f), 57344.0);
    EXPECT_TRUE(std::isnan(decode(e5m2fnuz_format(), 0x80))) << "no negative zero";
    EXPECT_EQ(encode(e4m3fnuz_format(), -0x1p-20), 0U);
    EXPECT_EQ(decode(fp16_format(), 0x3c00), 1.0);
    EXPECT_EQ(decode(fp16_format(), 0x7bff), 65504.0);
    EXPECT_EQ(decode(bf16_format(), 0x3f80), 1.0);
    EXPECT_TRUE(std::isnan(decode(bf16_format(), 0xffff))) << "what poison() writes";
    EXPECT_TRUE(std::isnan(decode(fp16_format(), 0xffff)));
    const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    for (std::uint32_t code = 0; code < 8; ++code) {
        EXPECT_EQ(decode(e2m1_format(), code), e2m1[code]);
        EXPECT_EQ(decode(e2m1_format(), code + 8), -e2m1[code]);
    }
    EXPECT_EQ(decode_e8m0(127), 1.0);
    EXPECT_EQ(decode_e8m0(130), 8.0);
}

TEST(NarrowFloat, EveryNumberIsItsOwnNearest) {
    for (const NarrowFloat& format : formats)
        for (std::uint32_t code = 0; code <= format.largest; ++code) {
            ASSERT_EQ(encode(format, decode(format, code)), code);
            const std::uint32_t sign = 1U << (format.exponent_bits + format.mantissa_bits);
            if (code != 0) {
                ASSERT_EQ(encode(format, -decode(format, code)), code | sign);
            }
        }
}

TEST(NarrowFloat, BetweenTwoTheNearerWinsAndATieIsEven) {
    for (const NarrowFloat& format : formats)
        for (std::uint32_t code = 0; code < format.largest; ++code) {
            const double low = decode(format, code);
            const double high = decode(format, code + 1);
            const double middle = (low + high) / 2;
            ASSERT_EQ(encode(format, std::nextafter(middle, low)), code);
            ASSERT_EQ(encode(format, std::nextafter(middle, high)), code + 1);
            ASSERT_EQ(encode(format, middle), code % 2 == 0 ? code : code + 1);
        }
}

TEST(NarrowFloat, BeyondTheLargestIsTheLargest) {
    for (const NarrowFloat& format : formats) {
        const double largest = decode(format, format.largest);
        EXPECT_EQ(encode(format, largest * 1.5), format.largest);
        EXPECT_EQ(decode(format, encode(format, -1e30 * largest)), -largest);
    }
    EXPECT_EQ(decode(tf32_format(), encode(tf32_format(), 1 + 0x1p-11)), 1.0);
    EXPECT_EQ(decode(tf32_format(), encode(tf32_format(), 1 + 0x1p-10)), 1 + 0x1p-10);
}

// --- matrices -------------------------------------------------------------------------------------

/// A matrix in the host's memory, filled as a device does it.
struct Matrix {
    Matrix(Storage storage, std::uint64_t rows, std::uint64_t inner)
        : data(data_bytes(storage, rows * inner), 0xee),
          scales(scale_bytes(storage, rows, inner), 0xee),
          operand{storage, data.data(), scales.data(), inner, rows} {
        const FillNormal fill{operand, 7};
        for (std::uint64_t share = 0; share < fill.count(); ++share) fill(share);
    }
    std::vector<std::uint8_t> data;
    std::vector<std::uint8_t> scales;
    Operand operand;
};

TEST(DeviceOperand, HoldsTheNearestNumbersOfItsType) {
    constexpr std::uint64_t rows = 6;
    constexpr std::uint64_t inner = 10;
    const std::pair<Storage, double> wanted[] = {{Storage::fp64, 0},       {Storage::fp32, 0x1p-24},
                                                 {Storage::tf32, 0x1p-11}, {Storage::fp16, 0x1p-11},
                                                 {Storage::bf16, 0x1p-8},  {Storage::e4m3, 0x1p-4},
                                                 {Storage::e5m2, 0x1p-3}};
    for (const auto& [storage, unit] : wanted) {
        const Matrix matrix{storage, rows, inner};
        double worst = 0;
        for (std::uint64_t i = 0; i < rows * inner; ++i) {
            const auto exact = random_normal<double>(7, i);
            const double off = std::fabs(load(matrix.operand, i / inner, i % inner) - exact);
            EXPECT_LE(off, std::fmax(unit * std::fabs(exact), unit * 0x1p-6));
            worst = std::fmax(worst, off / std::fabs(exact));
        }
        EXPECT_GE(worst, unit / 4) << "finer than its type";
    }
    const Matrix integers{Storage::int8, rows, inner};
    for (std::uint64_t i = 0; i < rows * inner; ++i) {
        const double exact = random_normal<double>(7, i) * int8_deviation;
        const double value = load(integers.operand, i / inner, i % inner);
        EXPECT_EQ(value, std::rint(std::fmin(std::fmax(exact, -127), 127)));
    }
    EXPECT_EQ(clamped_int8(-1000), -127);
}

TEST(DeviceOperand, ScalesOfBlocksLieInTilesAndEachHasItsOwnPlace) {
    // The tile: 128 rows by 4 blocks, 512 bytes.
    EXPECT_EQ(scale_offset(0, 3, 8), 3U);
    EXPECT_EQ(scale_offset(1, 0, 8), 16U);
    EXPECT_EQ(scale_offset(32, 0, 8), 4U);
    EXPECT_EQ(scale_offset(127, 3, 8), 511U);
    EXPECT_EQ(scale_offset(0, 4, 8), 512U) << "the next tile lies along the row";
    EXPECT_EQ(scale_offset(128, 0, 8), 1024U);
    constexpr std::uint64_t rows = 256;
    constexpr std::uint64_t blocks = 12;
    std::set<std::uint64_t> places;
    for (std::uint64_t row = 0; row < rows; ++row)
        for (std::uint64_t block = 0; block < blocks; ++block)
            places.insert(scale_offset(row, block, blocks));
    EXPECT_EQ(places.size(), rows * blocks);
    EXPECT_EQ(*places.rbegin() + 1, scale_bytes(Storage::mx_e4m3, rows, 32 * blocks));
    EXPECT_EQ(scale_bytes(Storage::nv_e2m1, 1, 16), 512U) << "padded to whole tiles";
    EXPECT_EQ(scale_bytes(Storage::e4m3, 128, 128), 0U);
}

TEST(DeviceOperand, BlocksAreScaledToTheRangeOfTheirType) {
    constexpr std::uint64_t rows = 130;
    constexpr std::uint64_t inner = 128;
    // Half a step at the largest number of a block: 16 of 256, and 1 of 4 to 6.
    const std::pair<Storage, double> wanted[] = {{Storage::mx_e4m3, 1.0 / 8},
                                                 {Storage::nv_e2m1, 1.0 / 4}};
    for (const auto& [storage, step] : wanted) {
        const Matrix matrix{storage, rows, inner};
        double square = 0;
        for (std::uint64_t row = 0; row < rows; ++row)
            for (std::uint64_t at = 0; at < inner; ++at) {
                const auto exact = random_normal<double>(7, row * inner + at);
                const double off = load(matrix.operand, row, at) - exact;
                ASSERT_LE(std::fabs(off), step * 5) << "row " << row << ", element " << at;
                square += off * off;
            }
        const double rms = std::sqrt(square / (rows * inner));
        EXPECT_LT(rms, storage == Storage::mx_e4m3 ? 0.04 : 0.15);
        EXPECT_GT(rms, storage == Storage::mx_e4m3 ? 0.01 : 0.05) << "too good for its bits";
    }
    EXPECT_EQ(detail::mx_scale(0), 127U);
    EXPECT_EQ(detail::mx_scale(256), 127U);
    EXPECT_EQ(detail::mx_scale(511), 127U);
    EXPECT_EQ(detail::mx_scale(2.5), 120U);
    EXPECT_EQ(detail::nv_scale(6), 0x38U);
    EXPECT_EQ(detail::nv_scale(0), 1U);
}

TEST(DeviceOperand, OneElementOfATypeCanBeWrittenByItself) {
    for (const Storage storage :
         {Storage::fp64, Storage::fp32, Storage::fp16, Storage::bf16, Storage::int32}) {
        double memory = 0;
        Operand one{storage, &memory, nullptr, 1, 1};
        store(one, 0, -3.0);
        EXPECT_EQ(load(one, 0, 0), -3.0);
    }
}

} // namespace
} // namespace assay::gemm
