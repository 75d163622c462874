// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on devices, without one: what each precision needs, whether the check sees what it
// promises and nothing else, and how the fastest algorithm and shape are chosen. The device's part of the
// check is done here by plain loops over the very same matrices.
#include "gemm/algorithm_text.hpp"
#include "gemm/device_check.hpp"
#include "gemm/fastest.hpp"
#include "gemm/product_shapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::gemm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int newest = 990000;

constexpr DevicePrecision precisions[] = {
    DevicePrecision::fp64,     DevicePrecision::fp32,          DevicePrecision::tf32,
    DevicePrecision::fp16,     DevicePrecision::bf16,          DevicePrecision::fp8_e4m3,
    DevicePrecision::fp8_e5m2, DevicePrecision::int8,          DevicePrecision::mxfp8,
    DevicePrecision::nvfp4,    DevicePrecision::fp64_emulated, DevicePrecision::fp32_emulated};

// --- what a precision needs -----------------------------------------------------------------------

TEST(DevicePrecision, WhatIsNotThereIsNamed) {
    const Shape cube{1024, 1024, 1024};
    for (const DevicePrecision p : precisions)
        EXPECT_TRUE(allowed(p, Accumulation::exact, cube, newest));
    EXPECT_TRUE(allowed(DevicePrecision::fp8_e5m2, Accumulation::fast, cube, newest));
    EXPECT_THAT(allowed(DevicePrecision::bf16, Accumulation::fast, cube, newest).why(),
                HasSubstr("only fp8"));
    const Fit old = allowed(DevicePrecision::fp64_emulated, Accumulation::exact, cube, 120401);
    EXPECT_EQ(old.why(), "not applicable: needs cuBLAS 13.1, this build has 12.4");
    EXPECT_TRUE(allowed(DevicePrecision::fp8_e4m3, Accumulation::exact, cube, 120401));
    EXPECT_FALSE(allowed(DevicePrecision::mxfp8, Accumulation::exact, cube, 120401));
    EXPECT_TRUE(allowed(DevicePrecision::mxfp8, Accumulation::exact, cube, 120803));
    EXPECT_THAT(
        allowed(DevicePrecision::nvfp4, Accumulation::exact, {1024, 1024, 1040}, newest).why(),
        HasSubstr("multiples of 128, not 1040"));
    EXPECT_FALSE(
        allowed(DevicePrecision::fp8_e4m3, Accumulation::exact, {1000, 1024, 1024}, newest));
    EXPECT_FALSE(allowed(DevicePrecision::int8, Accumulation::exact, {1024, 1023, 1024}, newest));
    EXPECT_TRUE(allowed(DevicePrecision::fp64, Accumulation::exact, {3, 5, 7}, newest));
}

TEST(DevicePrecision, MemoryIsThatOfTheMatricesAndWhatTheLibraryMayUse) {
    const Shape cube{8192, 8192, 8192};
    constexpr std::int64_t square = std::int64_t{8192} * 8192;
    EXPECT_EQ(matrix_bytes(DevicePrecision::fp64, cube), 24 * square);
    EXPECT_EQ(matrix_bytes(DevicePrecision::bf16, cube), 6 * square);
    EXPECT_EQ(matrix_bytes(DevicePrecision::int8, cube), 6 * square);
    EXPECT_EQ(matrix_bytes(DevicePrecision::mxfp8, cube), 4 * square + 2 * square / 32);
    EXPECT_EQ(matrix_bytes(DevicePrecision::nvfp4, cube), 3 * square + 2 * square / 16);
    EXPECT_EQ(matrix_bytes(DevicePrecision::bf16, {2, 3, 5}), 2 * (10 + 15 + 6));
    constexpr std::int64_t mebi = std::int64_t{1} << 20U;
    EXPECT_EQ(workspace_bytes(DevicePrecision::bf16, cube), 32 * mebi);
    EXPECT_EQ(workspace_bytes(DevicePrecision::fp32_emulated, {256, 256, 256}), 1024 * mebi);
    EXPECT_GE(workspace_bytes(DevicePrecision::fp64_emulated, cube), 2 * 10 * square);
    EXPECT_GT(matrix_bytes(DevicePrecision::fp64, {65536, 65536, 65536}), std::int64_t{1} << 36U);
}

TEST(DevicePrecision, IntegersDoOperationsAndTheOthersFlops) {
    EXPECT_EQ(product_work(DevicePrecision::int8, {2, 3, 5}).operations, 60);
    EXPECT_EQ(product_work(DevicePrecision::int8, {2, 3, 5}).flops, 0);
    EXPECT_EQ(product_work(DevicePrecision::nvfp4, {65536, 65536, 65536}).flops, std::ldexp(1, 49));
}

// --- sampling -------------------------------------------------------------------------------------

TEST(Sampling, EveryTileOfUsualSizesAndEveryCornerIsSeen) {
    for (const auto& [rows, columns] : {std::pair{8192, 8192}, {16, 16}, {100, 1000}, {4096, 64}}) {
        const Sampling sampling = sampling_of(rows, columns);
        std::set<std::pair<std::uint64_t, std::uint64_t>> tiles;
        std::set<std::pair<std::uint64_t, std::uint64_t>> corners;
        for (std::uint64_t i = 0; i < sampling.count(); ++i) {
            const Position at = sample_at(sampling, i);
            ASSERT_LT(at.row, sampling.rows);
            ASSERT_LT(at.column, sampling.columns);
            tiles.insert({at.row * sampling.row_cells / sampling.rows,
                          at.column * sampling.column_cells / sampling.columns});
            if (i + 4 >= sampling.count()) corners.insert({at.row, at.column});
        }
        EXPECT_EQ(tiles.size(), sampling.row_cells * sampling.column_cells);
        EXPECT_EQ(corners.size(), 4U);
        EXPECT_LE(sampling.rows, 64 * sampling.row_cells);
    }
    EXPECT_LE(sampling_of(65536, 65536).count(), 128U * 128U + 4U) << "grids of blocks end at 2^31";
    EXPECT_GT(sampling_of(65536, 65536).count(), 10000U);
}

// --- the check ------------------------------------------------------------------------------------

/// A product on the host: sums as a device makes them, and its part of the check.
class HostProduct {
public:
    HostProduct(DevicePrecision precision, const Shape& shape)
        : shape_{shape}, spec_{spec_of(precision)}, a_{spec_.a, shape.m, shape.k, 1},
          b_{spec_.b, shape.n, shape.k, 2}, c_{spec_.c, shape.n, shape.m, 0} {}

    /// add(sum so far, product) is the next sum; `read` is what becomes of a factor.
    template <class Add, class Read>
    void multiply(const Add& add, const Read& read) {
        std::vector<double> a = a_.values;
        std::vector<double> b = b_.values;
        for (double& x : a) x = read(x);
        for (double& x : b) x = read(x);
        const std::uint64_t k = count(shape_.k);
        for (std::uint64_t j = 0; j < count(shape_.n); ++j)
            for (std::uint64_t i = 0; i < count(shape_.m); ++i) {
                double sum = 0;
                for (std::uint64_t l = 0; l < k; ++l) sum = add(sum, a[i * k + l] * b[j * k + l]);
                store(c_.operand, j * count(shape_.m) + i, sum);
            }
    }
    /// Multiplies in the type of its sums.
    void multiply() {
        if (spec_.c == Storage::fp64 || spec_.c == Storage::int32)
            multiply([](double sum, double x) { return sum + x; }, [](double x) { return x; });
        else
            multiply([](double sum,
                        double x) { return static_cast<double>(static_cast<float>(sum + x)); },
                     [](double x) { return x; });
    }
    Operand c() const { return c_.operand; }

    std::vector<Entry> entries() const {
        const Sampling sampling = sampling_of(shape_.m, shape_.n);
        std::vector<Entry> entries;
        for (std::uint64_t s = 0; s < sampling.count(); ++s) {
            const Position at = sample_at(sampling, s);
            Entry entry{load(c_.operand, at.column, at.row), 0, 0, 0};
            for (std::uint64_t l = 0; l < count(shape_.k); ++l) {
                const double a = a_.values[at.row * count(shape_.k) + l];
                const double b = b_.values[at.column * count(shape_.k) + l];
                entry.product += a * b;
                entry.square_a += a * a;
                entry.square_b += b * b;
            }
            entries.push_back(entry);
        }
        return entries;
    }
    Check elements(const Tolerance& tolerance) const {
        return check_entries(entries(), tolerance, shape_.k);
    }
    template <class Sum>
    Check rows(const Tolerance& tolerance) const {
        const std::uint64_t m = count(shape_.m);
        const std::uint64_t n = count(shape_.n);
        const std::uint64_t k = count(shape_.k);
        std::vector<Sum> found(device_vectors * m);
        std::vector<Sum> expected(device_vectors * m);
        std::vector<double> square_a(m);
        double square_b = 0;
        const auto number = [](double x) {
            if constexpr (std::is_integral_v<Sum>)
                return static_cast<Sum>(static_cast<std::int64_t>(x));
            else
                return x;
        };
        for (std::size_t v = 0; v < device_vectors; ++v) {
            std::vector<Sum> r(n);
            std::vector<Sum> br(k);
            for (std::uint64_t j = 0; j < n; ++j) {
                if constexpr (std::is_integral_v<Sum>)
                    r[j] = random_bits(5, v * n + j);
                else
                    r[j] = random_normal<double>(5, v * n + j);
                for (std::uint64_t l = 0; l < k; ++l) br[l] += number(b_.values[j * k + l]) * r[j];
                for (std::uint64_t i = 0; i < m; ++i)
                    found[v * m + i] += number(load(c_.operand, j, i)) * r[j];
            }
            for (std::uint64_t i = 0; i < m; ++i)
                for (std::uint64_t l = 0; l < k; ++l)
                    expected[v * m + i] += number(a_.values[i * k + l]) * br[l];
        }
        for (std::uint64_t l = 0; l < k; ++l) {
            for (std::uint64_t i = 0; i < m; ++i) square_a[i] += std::pow(a_.values[i * k + l], 2);
            for (std::uint64_t j = 0; j < n; ++j) square_b += std::pow(b_.values[j * k + l], 2);
        }
        if constexpr (std::is_integral_v<Sum>)
            return check_rows_exactly({found, expected});
        else
            return check_rows({found, expected}, square_a, square_b, tolerance, shape_);
    }

private:
    struct Matrix {
        Matrix(Storage storage, std::int64_t rows, std::int64_t inner, std::uint64_t seed)
            : data(data_bytes(storage, count(rows) * count(inner)), 0xff),
              scales(scale_bytes(storage, count(rows), count(inner)), 0xff),
              operand{storage, data.data(), scales.data(), count(inner), count(rows)} {
            if (seed == 0) return;
            const FillNormal fill{operand, seed};
            for (std::uint64_t share = 0; share < fill.count(); ++share) fill(share);
            for (std::uint64_t row = 0; row < count(rows); ++row)
                for (std::uint64_t i = 0; i < count(inner); ++i)
                    values.push_back(load(operand, row, i));
        }
        Matrix(const Matrix&) = delete;
        Matrix& operator=(const Matrix&) = delete;
        ~Matrix() = default;
        std::vector<std::uint8_t> data;
        std::vector<std::uint8_t> scales;
        Operand operand;
        std::vector<double> values; // as they were read back
    };
    static std::uint64_t count(std::int64_t length) { return static_cast<std::uint64_t>(length); }

    Shape shape_;
    PrecisionSpec spec_;
    Matrix a_;
    Matrix b_;
    Matrix c_;
};

TEST(DeviceCheck, AcceptsRoundedProductsOfEveryPrecision) {
    for (const DevicePrecision p : precisions) {
        const Shape shape{64, 128, 128};
        HostProduct product{p, shape};
        const Tolerance tolerance = tolerance_of(p, Accumulation::exact, shape.k);
        EXPECT_FALSE(product.elements(tolerance).passed) << "nothing was written";
        product.multiply();
        const Check elements = product.elements(tolerance);
        EXPECT_TRUE(elements.passed) << static_cast<int>(p) << ": " << elements.detail;
        EXPECT_LT(elements.error, 0.999);
        const Check rows = p == DevicePrecision::int8 ? product.rows<std::uint64_t>(tolerance)
                                                      : product.rows<double>(tolerance);
        EXPECT_TRUE(rows.passed) << static_cast<int>(p) << ": " << rows.detail;
        EXPECT_LT(rows.error, 0.5);
    }
}

TEST(DeviceCheck, SeesTheNextNarrowerInputs) {
    const Shape shape{128, 128, 512};
    // TF32 for fp32, bf16 for TF32 and for emulated fp32, fp32 for fp64.
    const std::pair<DevicePrecision, device::NarrowFloat> narrower[] = {
        {DevicePrecision::fp32, device::tf32_format()},
        {DevicePrecision::tf32, device::bf16_format()},
        {DevicePrecision::fp32_emulated, device::tf32_format()},
        {DevicePrecision::fp16, device::e4m3_format()},
        {DevicePrecision::fp64, device::tf32_format()}};
    for (const auto& [precision, format] : narrower) {
        HostProduct product{precision, shape};
        const device::NarrowFloat narrow = format;
        product.multiply(
            [](double sum, double x) { return sum + x; },
            [narrow](double x) { return device::decode(narrow, device::encode(narrow, x)); });
        const Tolerance tolerance = tolerance_of(precision, Accumulation::exact, shape.k);
        EXPECT_FALSE(product.elements(tolerance).passed) << static_cast<int>(precision);
    }
    // The same bounds at the size that is compared: half a step of the narrower type is 0.6 units of each
    // product, four deviations are found among thousands of samples.
    EXPECT_LT(tolerance_of(DevicePrecision::fp32, Accumulation::exact, 8192).absolute, 0x1p-11);
    EXPECT_LT(tolerance_of(DevicePrecision::fp32_emulated, Accumulation::exact, 8192).absolute,
              4 * 0.6 * 0x1p-11);
    EXPECT_LT(tolerance_of(DevicePrecision::tf32, Accumulation::exact, 8192).absolute, 0x1p-8);
    EXPECT_LT(tolerance_of(DevicePrecision::fp64, Accumulation::exact, 8192).absolute, 0x1p-40);
}

TEST(DeviceCheck, AcceptsSumsThatAreCutOffAsTensorCoresDo) {
    const Shape shape{64, 64, 4096};
    HostProduct product{DevicePrecision::fp8_e4m3, shape};
    // 14 bits, cut off towards zero after every 32 products, as with fast accumulation on Hopper.
    int step = 0;
    product.multiply(
        [&step](double sum, double x) {
            const double next = sum + x;
            if (++step % 32 != 0 || next == 0) return next;
            const double unit = std::ldexp(1.0, std::ilogb(next) - 13);
            return std::trunc(next / unit) * unit;
        },
        [](double x) { return x; });
    const Tolerance fast = tolerance_of(DevicePrecision::fp8_e4m3, Accumulation::fast, shape.k);
    EXPECT_TRUE(product.elements(fast).passed);
    EXPECT_TRUE(product.rows<double>(fast).passed);
    const Tolerance exact = tolerance_of(DevicePrecision::fp8_e4m3, Accumulation::exact, shape.k);
    EXPECT_LT(exact.absolute, fast.absolute / 5);
}

TEST(DeviceCheck, SeesOneSpoiltElementAndOneWrongBetweenTheSamples) {
    const Shape shape{128, 128, 128};
    for (const DevicePrecision p : {DevicePrecision::fp64, DevicePrecision::bf16}) {
        HostProduct product{p, shape};
        product.multiply();
        const Tolerance tolerance = tolerance_of(p, Accumulation::exact, shape.k);
        const Sampling sampling = sampling_of(shape.m, shape.n);
        const Position at = sample_at(sampling, 2);
        const Entry entry = product.entries()[2];
        store(product.c(), at.column * 128 + at.row,
              entry.got + 4 * allowed_error(entry, tolerance, shape.k));
        EXPECT_FALSE(product.elements(tolerance).passed);
    }
    HostProduct half{DevicePrecision::bf16, shape};
    half.multiply();
    const Tolerance tolerance = tolerance_of(DevicePrecision::bf16, Accumulation::exact, shape.k);
    for (std::uint64_t i = 0; i < 16; ++i) // a sixteenth of one row
        for (std::uint64_t j = 40; j < 48; ++j) store(half.c(), j * 128 + 17, 0);
    EXPECT_FALSE(half.rows<double>(tolerance).passed);
    HostProduct integers{DevicePrecision::int8, shape};
    integers.multiply();
    const double value = load(integers.c(), 5, 6);
    store(integers.c(), 5 * 128 + 6, value + 1);
    EXPECT_FALSE(integers.rows<std::uint64_t>({}).passed);
}

TEST(DeviceCheck, WhereNothingIsAllowedOnlyEqualPasses) {
    const std::vector<Entry> zeros(4, Entry{0, 0, 0, 0});
    EXPECT_TRUE(check_entries(zeros, {1, 1}, 16).passed);
    const std::vector<Entry> one{{0, 0, 0, 0}, {1e-30, 0, 0, 0}};
    EXPECT_FALSE(check_entries(one, {1, 1}, 16).passed);
    const std::vector<Entry> none{{std::nan(""), 0, 1, 1}};
    EXPECT_FALSE(check_entries(none, {1, 1}, 16).passed);
    EXPECT_FALSE(check_entries(std::vector<Entry>{}, {1, 1}, 16).passed);
}

// --- the fastest ----------------------------------------------------------------------------------

/// Answers from a table and counts how often it was asked.
struct Stopwatch {
    std::vector<double> seconds;
    std::vector<int> asked = std::vector<int>(seconds.size());
    double operator()(std::size_t i, double& spent) {
        ++asked[i];
        spent += seconds[i] < infinity ? seconds[i] : 0;
        return seconds[i];
    }
};

TEST(Fastest, IsTimedInRoundsAndTheHopelessOnlyOnce) {
    Stopwatch watch{{1.0, 0.9, 2.0, infinity}};
    const Trial trial = find_fastest(4, std::ref(watch), {.rounds = 3, .seconds = 100});
    EXPECT_EQ(trial.fastest, 1U);
    EXPECT_EQ(trial.rounds, 3);
    EXPECT_THAT(watch.asked, ElementsAre(3, 3, 1, 1));
    EXPECT_EQ(trial.seconds[3], infinity);
}

TEST(Fastest, ATieKeepsTheOrderOfTheLibrary) {
    Stopwatch watch{{1.0, 0.997, 0.996}};
    EXPECT_EQ(find_fastest(3, std::ref(watch)).fastest, 0U);
    Stopwatch broken{{infinity, 1.0, 0.999}};
    EXPECT_EQ(find_fastest(3, std::ref(broken)).fastest, 1U);
}

TEST(Fastest, EndsWithItsTimeAndWhereNothingWorks) {
    Stopwatch slow{{4.0, 3.0}};
    const Trial trial = find_fastest(2, std::ref(slow), {.rounds = 5, .seconds = 3});
    EXPECT_EQ(trial.rounds, 1);
    EXPECT_EQ(trial.fastest, 1U);
    Stopwatch broken{{infinity, infinity}};
    EXPECT_EQ(find_fastest(2, std::ref(broken)).fastest, std::nullopt);
    EXPECT_THAT(broken.asked, ElementsAre(1, 1));
    Stopwatch empty{{}};
    EXPECT_EQ(find_fastest(0, std::ref(empty)).fastest, std::nullopt);
}

// --- shapes ---------------------------------------------------------------------------------------

TEST(Shapes, SuitEveryPrecisionAndFillTheProcessors) {
    for (const std::int64_t processors : {1, 107, 108, 132, 148, 160}) {
        const auto shapes = sweep_shapes(processors);
        EXPECT_GT(shapes.size(), 20U);
        EXPECT_LE(shapes.size(), 120U);
        std::int64_t before = 0;
        for (const Shape& shape : shapes) {
            for (const DevicePrecision p : precisions)
                ASSERT_TRUE(allowed(p, Accumulation::exact, shape, newest)) << shape_text(shape);
            ASSERT_LE(std::max({shape.m, shape.n, shape.k}), largest_side);
            EXPECT_GE(shape.m * shape.n * shape.k, before) << "the least work first";
            before = shape.m * shape.n * shape.k;
        }
        EXPECT_THAT(shapes, testing::Contains(Shape{8192, 8192, 8192}));
        EXPECT_EQ(std::ranges::adjacent_find(shapes), shapes.end());
    }
    // An H100 or H200: 132 = 11 x 12 processors, whole waves of 128 x 256.
    std::size_t whole = 0;
    for (const Shape& shape : sweep_shapes(132))
        if (shape.m / 128 * (shape.n / 256) % 132 == 0) ++whole;
    EXPECT_GE(whole, 36U);
}

TEST(Shapes, TheFastestAreChosenAndAllAreInTheTable) {
    const std::vector<ShapeRate> tried{
        {{128, 256, 64}, 3}, {{128, 256, 32}, 5}, {{256, 256, 64}, 4}};
    EXPECT_THAT(fastest_shapes(tried, 2), ElementsAre(1U, 2U));
    EXPECT_THAT(fastest_shapes({{{1, 1, 1}, 0}}, 2), ElementsAre());
    const Table table = shape_table("flop_rate", tried);
    EXPECT_THAT(table.rows, ElementsAre("128 x 256", "256 x 256"));
    EXPECT_THAT(table.columns, ElementsAre("32", "64"));
    EXPECT_EQ(table.values[0], 5);
    EXPECT_EQ(table.values[1], 3);
    EXPECT_TRUE(std::isnan(table.values[2]));
    EXPECT_EQ(table.values[3], 4);
    EXPECT_EQ(shape_text({1, 2, 3}), "1 x 2 x 3");
}

// --- words ----------------------------------------------------------------------------------------

TEST(AlgorithmText, WhatTheHeadersDidNotKnowKeepsItsNumber) {
    constexpr std::array names{Named{1, "8x8"}, Named{4, "16x16"}};
    EXPECT_EQ(name_in(names, 4), "16x16");
    EXPECT_EQ(name_in(names, 0), "auto");
    EXPECT_EQ(name_in(names, 700), "number 700");
    EXPECT_EQ(names_of_bits(names, 5), "8x8 16x16");
    EXPECT_EQ(names_of_bits(names, 2), "");
}

} // namespace
} // namespace assay::gemm
