// SPDX-License-Identifier: Apache-2.0
//
// Does the check accept what the definition of the transform gives, and nothing else? Transforms are
// computed here by that definition, in long double.
#include "fft/shape.hpp"
#include "fft/transform_check.hpp"
#include "fft/transform_shares.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace assay::fft {
namespace {

using Long = std::complex<long double>;

/// The sum over all points for all indices; sign -1 is forward.
std::vector<Long> transform(const std::vector<Long>& in, std::int64_t n, int dimensions, int sign) {
    std::vector<Long> roots;
    for (std::int64_t m = 0; m < n; ++m) {
        const long double angle = sign * 2 * std::numbers::pi_v<long double> *
                                  static_cast<long double>(m) / static_cast<long double>(n);
        roots.emplace_back(std::cos(angle), std::sin(angle));
    }
    std::vector<Long> data = in;
    for (std::int64_t stride = 1, d = 0; d < dimensions; ++d, stride *= n) {
        std::vector<Long> next(data.size());
        for (std::size_t i = 0; i < data.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            const std::int64_t k = at / stride % n;
            for (std::int64_t j = 0; j < n; ++j)
                next[i] += data[static_cast<std::size_t>(at + (j - k) * stride)] *
                           roots[static_cast<std::size_t>(j * k % n)];
        }
        data = std::move(next);
    }
    return data;
}

/// A batch of transforms of random points, as a library would leave it.
template <class T>
struct Example {
    explicit Example(const Shape& shape) : s{shape} {
        const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
        points.resize(count(s.inputs() * s.batch));
        fill_uniform<T>(points, 9, -1, 1, 1);
        bins.resize(count(2 * s.bins() * s.batch));
        for (std::int64_t b = 0; b < s.batch; ++b) {
            std::vector<Long> full(count(s.volume()));
            for (std::size_t i = 0; i < full.size(); ++i) {
                const T* const own = points.data() + b * s.inputs();
                full[i] = s.type == Type::r2c ? Long{own[i]} : Long{own[2 * i], own[2 * i + 1]};
            }
            store(transform(full, s.points, static_cast<int>(s.dimensions), -1), b);
        }
        go_back();
    }
    void store(const std::vector<Long>& full, std::int64_t b) {
        for (std::int64_t at = 0; at < s.bins(); ++at) {
            const auto& x = full[static_cast<std::size_t>(at / s.row() * s.points + at % s.row())];
            T* const bin = bins.data() + 2 * (b * s.bins() + at);
            bin[0] = static_cast<T>(x.real());
            bin[1] = static_cast<T>(x.imag());
        }
    }
    /// From the stored bins; for real points from those that a library reads, the other half mirrored.
    void go_back() {
        returned.assign(bins.size(), T{0});
        for (std::int64_t b = 0; b < s.batch; ++b) {
            const auto back = transform(spectrum(b), s.points, static_cast<int>(s.dimensions), +1);
            for (std::int64_t at = 0; at < s.volume(); ++at) {
                const auto& x = back[static_cast<std::size_t>(at)];
                T* const row = returned.data() + 2 * (b * s.bins() + at / s.points * s.row());
                const std::int64_t column = at % s.points;
                if (s.type == Type::r2c) {
                    row[column] = static_cast<T>(x.real());
                } else {
                    row[2 * column] = static_cast<T>(x.real());
                    row[2 * column + 1] = static_cast<T>(x.imag());
                }
            }
        }
    }
    std::vector<Long> spectrum(std::int64_t b) const {
        const std::int64_t n = s.points;
        const auto mirror = [n](std::int64_t k) { return k == 0 ? 0 : n - k; };
        std::vector<Long> full(static_cast<std::size_t>(s.volume()));
        for (std::int64_t at = 0; at < s.volume(); ++at) {
            const std::int64_t column = at % n;
            const bool is_stored = column < s.row();
            std::int64_t line = at / n;
            if (!is_stored && s.dimensions == 2) line = mirror(line);
            if (!is_stored && s.dimensions == 3) line = mirror(line / n) * n + mirror(line % n);
            const T* const bin = bins.data() + 2 * (b * s.bins() + line * s.row() +
                                                    (is_stored ? column : mirror(column)));
            full[static_cast<std::size_t>(at)] = Long{bin[0], is_stored ? bin[1] : -bin[1]};
        }
        return full;
    }
    TransformCheck<T> checker() const {
        return {s, {.points = points.data(), .bins = bins.data(), .returned = returned.data()}, 1};
    }
    Check check() const { return checker().check(); }

    Shape s;
    std::vector<T> points;
    std::vector<T> bins;
    std::vector<T> returned;
};

std::vector<Shape> shapes() {
    std::vector<Shape> all;
    for (const Type type : {Type::c2c, Type::r2c}) {
        for (const std::int64_t n : {2, 3, 4, 5, 16, 31, 60})
            all.push_back({.dimensions = 1, .points = n, .batch = 3, .type = type});
        for (const std::int64_t n : {2, 3, 5, 8})
            for (const std::int64_t d : {2, 3})
                all.push_back({.dimensions = d, .points = n, .batch = 2, .type = type});
    }
    return all;
}

std::string words(const Shape& s) {
    return std::to_string(s.points) + '^' + std::to_string(s.dimensions) +
           (s.type == Type::c2c ? " c2c" : " r2c");
}

template <class T>
class TransformChecks : public testing::Test {};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(TransformChecks, Reals);

TYPED_TEST(TransformChecks, accepts_what_the_definition_gives) {
    for (const Shape& shape : shapes()) {
        const Check check = Example<TypeParam>{shape}.check();
        EXPECT_TRUE(check.passed) << words(shape) << ": " << check.detail;
        EXPECT_LT(check.error, check.bound / 2) << words(shape) << " is close to a false alarm";
    }
}

TYPED_TEST(TransformChecks, sees_damage_in_any_bin) {
    for (const Shape& shape : shapes()) {
        Example<TypeParam> example{shape};
        // All of them where there are few, else a sample.
        const std::size_t step = example.bins.size() / 64 | 1U;
        for (std::size_t at = 0; at < example.bins.size(); at += step) {
            const TypeParam right = example.bins[at];
            const auto own = static_cast<std::int64_t>(at) / (2 * shape.bins());
            example.bins[at] += static_cast<TypeParam>(2 * transform_bound<TypeParam>(shape) *
                                                       example.checker().norm_of_bins(own));
            example.go_back();
            EXPECT_FALSE(example.check().passed) << words(shape) << ", number " << at;
            example.bins[at] = right;
        }
    }
}

/// A transform that goes back perfectly and is wrong all the same.
TYPED_TEST(TransformChecks, wants_this_transform_and_no_other) {
    const Shape shape{.dimensions = 1, .points = 60, .batch = 1, .type = Type::c2c};
    Example<TypeParam> backward{shape};
    for (std::size_t i = 1; i < backward.bins.size(); i += 2) backward.bins[i] *= -1;
    EXPECT_FALSE(backward.check().passed);

    Example<TypeParam> copied{shape};
    const auto root = static_cast<TypeParam>(std::sqrt(60.0)); // keeps the norm as a transform does
    for (std::size_t i = 0; i < copied.bins.size(); ++i) copied.bins[i] = copied.points[i] * root;
    EXPECT_FALSE(copied.check().passed);
}

TYPED_TEST(TransformChecks, rejects_what_is_no_number) {
    Example<TypeParam> example{shapes()[4]};
    example.bins[5] = std::numeric_limits<TypeParam>::quiet_NaN();
    const Check check = example.check();
    EXPECT_FALSE(check.passed);
    EXPECT_FALSE(check.detail.empty());
}

/// The check as a device does it, one thread after the other.
template <class T>
double worst_by_shares(const Example<T>& e, std::int64_t shares) {
    const auto count = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
    std::vector<Squares> squares(count(e.s.batch * shares));
    const ShareOfSquares<T, T> share{
        Sizes{e.s}, shares, e.points.data(), e.bins.data(), e.returned.data(), squares.data()};
    for (std::uint64_t i = 0; i < squares.size(); ++i) share(i);
    std::vector<double> errors(3 * count(e.s.batch));
    std::vector<double> norms(count(e.s.batch));
    const ErrorsOfTransform sum{shares, static_cast<double>(e.s.volume()), squares.data(),
                                errors.data(), norms.data()};
    for (std::uint64_t i = 0; i < norms.size(); ++i) sum(i);
    double worst = 0;
    for (const double error : errors) worst = std::max(worst, assay::detail::orderable(error));
    for (std::uint64_t i = 0; i < bins_picked; ++i) {
        const BinPick pick = pick_bin(e.s, i);
        std::vector<Complex> parts(count(shares));
        const ShareOfBin<T> part{Sizes{e.s}, shares, pick, e.points.data(), parts.data()};
        for (std::uint64_t k = 0; k < parts.size(); ++k) part(k);
        Complex bin{0, 0};
        for (const Complex& p : parts) bin = {bin.re + p.re, bin.im + p.im};
        const T* const got = e.bins.data() + 2 * place_of(pick, e.s);
        const double error =
            std::hypot(static_cast<double>(got[0]) - bin.re, static_cast<double>(got[1]) - bin.im);
        const double norm = norms[count(pick.transform)];
        worst = std::max(worst, assay::detail::orderable(error / std::sqrt(norm)));
    }
    return worst;
}

TYPED_TEST(TransformChecks, give_the_same_in_shares) {
    for (const Shape& shape : shapes()) {
        SCOPED_TRACE(words(shape));
        Example<TypeParam> example{shape};
        for (const std::int64_t shares : {1, 3, 64}) {
            const double bound = transform_bound<TypeParam>(shape);
            const double worst = worst_by_shares(example, shares);
            // The roots of one differ by a rounding or two of fp64, which here is the whole error.
            EXPECT_NEAR(worst, example.check().error, 0.3 * bound) << shares << " shares";
        }
        const std::size_t at = example.bins.size() - 1; // of the last transform
        example.bins[at] += static_cast<TypeParam>(2 * transform_bound<TypeParam>(shape) *
                                                   example.checker().norm_of_bins(shape.batch - 1));
        example.go_back();
        EXPECT_GT(worst_by_shares(example, 3), transform_bound<TypeParam>(shape));
        example.bins[at] = std::numeric_limits<TypeParam>::quiet_NaN();
        EXPECT_EQ(worst_by_shares(example, 3), std::numeric_limits<double>::infinity());
    }
}

TEST(Shares, are_enough_for_a_device_and_have_some_work_each) {
    const auto shares = [](std::int64_t points, std::int64_t batch) {
        return shares_of({.dimensions = 1, .points = points, .batch = batch, .type = Type::c2c});
    };
    EXPECT_EQ(shares(2, 1), 1);
    EXPECT_EQ(shares(2, most_transforms), 1);
    EXPECT_EQ(shares(1 << 20U, 1), 1 << 13U);
    EXPECT_EQ(shares(4096, 1024), 256);
}

TEST(Roots, are_exact_to_a_rounding_or_two) {
    for (const std::int64_t n : {2, 3, 7, 64, 1000, 65537})
        for (std::int64_t m = 0; m < n; m += n / 50 + 1) {
            const long double angle = -2 * std::numbers::pi_v<long double> *
                                      static_cast<long double>(m) / static_cast<long double>(n);
            const auto w = Roots{n}.at(m);
            EXPECT_NEAR(w.real(), static_cast<double>(std::cos(angle)), 4e-16);
            EXPECT_NEAR(w.imag(), static_cast<double>(std::sin(angle)), 4e-16);
        }
}

TEST(Sum, keeps_what_a_plain_sum_loses) {
    Sum sum;
    sum.add(1e100);
    for (int i = 0; i < 10; ++i) sum.add(1);
    sum.add(-1e100);
    EXPECT_EQ(sum.value(), 10);
}

TEST(Shape, knows_its_sizes_and_its_work) {
    const Shape real{.dimensions = 3, .points = 5, .batch = 7, .type = Type::r2c};
    EXPECT_EQ(real.volume(), 125);
    EXPECT_EQ(real.bins(), 75); // 5 x 5 rows of 3
    const Work work = work_of(real, sizeof(float));
    EXPECT_DOUBLE_EQ(work.flops, 7 * 2.5 * 125 * std::log2(125.0));
    EXPECT_EQ(work.bytes, 7 * (125 * 4 + 75 * 8));
    EXPECT_EQ(work.items, 7);

    const Shape complex{.dimensions = 1, .points = 1024, .batch = 1, .type = Type::c2c};
    EXPECT_EQ(work_of(complex, sizeof(double)).flops, 5 * 1024 * 10);
    EXPECT_EQ(work_of(complex, sizeof(double)).bytes, 2 * 1024 * 16);
}

TEST(Shape, of_any_size_has_a_need) {
    const Shape largest{
        .dimensions = 3, .points = longest, .batch = most_transforms, .type = Type::c2c};
    EXPECT_TRUE(std::isfinite(needed_bytes(largest, sizeof(double))));
    EXPECT_GT(needed_bytes(largest, sizeof(double)), 1e36);
    EXPECT_EQ(largest_prime_factor(longest), 2);
    EXPECT_EQ(largest_prime_factor(longest - 1), longest - 1); // a Mersenne prime
    EXPECT_EQ(largest_prime_factor(30030), 13);
}

} // namespace
} // namespace assay::fft
