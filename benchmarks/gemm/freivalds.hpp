// SPDX-License-Identifier: Apache-2.0
//
// Is C = A B? Freivalds' test: compare C r with A (B r) for random vectors r, row by row. That costs
// O(n^2), so every product can be checked whole, at any size, without a second matrix product.
//
// The bound is statistical, because a worst-case bound (k u) would let an fp32 product pass whose
// inputs were rounded to bf16. It holds for entries drawn independently around zero, and only then.

#pragma once

#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace assay::gemm {

/// Square matrices, row by row.
template <class A, class B, class C>
struct Product {
    std::size_t size;
    std::span<const A> a;
    std::span<const B> b;
    std::span<const C> c;
};

/// A wrong element hides from one normal vector only where its factor happens to be tiny; from three
/// at once it hides about never.
inline constexpr std::size_t vector_count = 3;

/// In units of u sqrt(k) rms(C) sqrt(n), see check_product().
inline constexpr double freivalds_bound = 6;

namespace detail {

/// Where the random vectors come from: not the seeds of the matrices.
inline constexpr std::uint64_t vector_seed = 0xf4e1'7a1d'5000;

/// Results of eight rows share a cache line.
inline constexpr std::size_t rows_together = 8;

/// Vectors of one length, one after the other.
template <class T>
struct Vectors {
    explicit Vectors(std::size_t length_, std::size_t count)
        : length{length_}, values(length_ * count) {}
    std::size_t count() const { return values.size() / length; }
    const T* at(std::size_t v) const { return values.data() + v * length; }
    T* at(std::size_t v) { return values.data() + v * length; }

    std::size_t length;
    std::vector<T> values;
};

/// One row times one vector. Unsigned integers wrap, which is arithmetic modulo 2^64.
template <class Sum, class Element>
Sum dot(const Element* row, const Sum* vector, std::size_t length) {
    // Signed integers go through int64, so that -1 becomes 2^64 - 1 also from an 8-bit type.
    using Wide = std::conditional_t<std::is_floating_point_v<Sum>, Sum, std::int64_t>;
    Sum sum = 0;
#ifdef _OPENMP // allows the order of additions to change; without it the sum is only slower
#pragma omp simd reduction(+ : sum)
#endif
    for (std::size_t j = 0; j < length; ++j)
        sum += static_cast<Sum>(static_cast<Wide>(row[j])) * vector[j];
    return sum;
}

/// The matrix times each of the vectors.
template <class Element, class Sum>
Vectors<Sum> times(std::span<const Element> matrix, const Vectors<Sum>& vectors) {
    const std::size_t n = vectors.length;
    Vectors<Sum> result{n, vectors.count()};
    on_each_slice(team_threads(), n, rows_together, [&](Slice rows) {
        for (std::size_t i = rows.first; i < rows.last; ++i)
            for (std::size_t v = 0; v < vectors.count(); ++v)
                result.at(v)[i] = dot(matrix.data() + i * n, vectors.at(v), n);
    });
    return result;
}

/// Euclidean norm of every row.
template <class Element>
std::vector<double> row_norms(std::span<const Element> matrix, std::size_t n) {
    std::vector<double> norms(n);
    on_each_slice(team_threads(), n, rows_together, [&](Slice rows) {
        for (std::size_t i = rows.first; i < rows.last; ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < n; ++j) {
                const auto x = static_cast<double>(matrix[i * n + j]);
                sum += x * x;
            }
            norms[i] = std::sqrt(sum);
        }
    });
    return norms;
}

} // namespace detail

/// A product of real numbers, accumulated with unit roundoff u.
///
/// One element is a sum of k products, so its partial sums grow like sqrt(t) and rounding each of
/// them to u/sqrt(3) of its size adds up to a standard deviation of at most u sqrt(k/6) rms(C), with
/// rms(C) = |row of A| rms(B). A row of C times a standard normal vector collects n of these: 0.41 in
/// units of u sqrt(k) rms(C) sqrt(n). Where u is that of fp64, the reference C r, A (B r) and the B r
/// inside it err as much as the product each: 0.41 sqrt(4) = 0.82. The bound of 6 is seven times
/// that: one false alarm in 10^7 products at size 65536.
///
/// What it sees: rounding the inputs to s bits puts 0.6 x 2^-s rms(C) into every element. For fp32
/// at size 65536 the bound is 9e-5 rms(C) per element, bf16 inputs err by 2e-3, tf32 inputs by 3e-4.
/// A single wrong element is seen from 6 u n rms(C) on: 7e-4 of a typical element at size 2048.
template <class A, class B, class C>
Check check_product(const Product<A, B, C>& product, double u) {
    const std::size_t n = product.size;
    detail::Vectors<double> r{n, vector_count};
    for (std::size_t i = 0; i < r.values.size(); ++i)
        r.values[i] = random_normal<double>(detail::vector_seed, i);
    const auto expected = detail::times(product.a, detail::times(product.b, r));
    const auto found = detail::times(product.c, r);

    const auto norms_a = detail::row_norms(product.a, n);
    double square_b = 0;
    for (const double norm : detail::row_norms(product.b, n)) square_b += norm * norm;
    const double rms_b = std::sqrt(square_b) / static_cast<double>(n);
    const double unit = u * static_cast<double>(n) * rms_b; // u sqrt(k) sqrt(n), k = n

    return check_each(
        n,
        [&](std::size_t i) {
            double worst = 0;
            for (std::size_t v = 0; v < vector_count; ++v) {
                const double off = std::fabs(found.at(v)[i] - expected.at(v)[i]);
                if (!(off <= worst)) worst = off; // keeps a NaN
                if (std::isnan(worst)) break;
            }
            return worst / (unit * norms_a[i]);
        },
        freivalds_bound,
        "Freivalds, every row, 3 normal vectors: C r against A (B r) in fp64, in units of u "
        "sqrt(k) rms(C) sqrt(n); rounding gives at most 0.41 of them rms, 0.82 for fp64");
}

/// A product of integers, exact. Modulo 2^64 with uniform 64-bit vectors: a wrong row passes one
/// vector with probability 2^(v-64), v the twos in its errors' common divisor, so at most 2^-33 for
/// 32-bit results.
template <class A, class B, class C>
Check check_exact_product(const Product<A, B, C>& product) {
    detail::Vectors<std::uint64_t> r{product.size, 2};
    for (std::size_t i = 0; i < r.values.size(); ++i)
        r.values[i] = random_bits(detail::vector_seed, i);
    const auto expected = detail::times(product.a, detail::times(product.b, r));
    const auto found = detail::times(product.c, r);
    return check_each(
        product.size,
        [&](std::size_t i) {
            return found.at(0)[i] == expected.at(0)[i] && found.at(1)[i] == expected.at(1)[i] ? 0.0
                                                                                              : 1.0;
        },
        0.0,
        "Freivalds, every row, 2 vectors of random 64-bit integers: C r equals A (B r) modulo "
        "2^64; error 1 is a wrong row");
}

} // namespace assay::gemm
