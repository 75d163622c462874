// SPDX-License-Identifier: Apache-2.0
//
// Is this the discrete Fourier transform of that? Knows no library: the caller supplies the points
// that came back from the bins.

#pragma once

#include "transform_shares.hpp"

#include <assay/host.hpp>
#include <assay/parallel.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace assay::fft {

/// Sums over [0, count), several at once: `terms(slice, sums)` adds those of a slice.
template <std::size_t N, class Terms>
std::array<double, N> sums_over(std::size_t count, int threads, Terms&& terms) {
    std::array<Sum, N> total{};
    // A parallel region costs what a few thousand terms do.
    constexpr std::size_t worthwhile = 1U << 14U;
    if (threads == 1 || count < worthwhile) {
        terms(Slice{.first = 0, .last = count}, total);
    } else {
        std::vector<std::array<Sum, N>> parts(static_cast<std::size_t>(threads));
        on_each_thread(threads, [&](std::size_t thread, std::size_t team) {
            terms(slice_of(count, thread, team), parts[thread]);
        });
        for (const auto& part : parts)
            for (std::size_t i = 0; i < N; ++i) total[i].add(part[i]);
    }
    std::array<double, N> values{};
    for (std::size_t i = 0; i < N; ++i) values[i] = total[i].value();
    return values;
}

/// exp(-2 pi i m / n) for every m below n, from two tables of about sqrt(n) entries.
class Roots {
public:
    explicit Roots(std::int64_t n) {
        while ((std::int64_t{1} << (2 * shift_)) < n) ++shift_;
        const std::int64_t fine = std::int64_t{1} << shift_;
        for (std::int64_t m = 0; m < fine; ++m) fine_.push_back(root(m, n));
        for (std::int64_t m = 0; m < n; m += fine) coarse_.push_back(root(m, n));
    }
    std::complex<double> at(std::int64_t m) const {
        const auto& a = coarse_[static_cast<std::size_t>(m >> shift_)];
        const auto& b = fine_[static_cast<std::size_t>(m & ((std::int64_t{1} << shift_) - 1))];
        // Not std::complex's product, which looks for infinities.
        return {a.real() * b.real() - a.imag() * b.imag(),
                a.real() * b.imag() + a.imag() * b.real()};
    }

private:
    static std::complex<double> root(std::int64_t m, std::int64_t n) {
        const std::int64_t nearest = 2 * m > n ? m - n : m; // a small angle has a small error
        const long double angle = -2 * std::numbers::pi_v<long double> *
                                  static_cast<long double>(nearest) / static_cast<long double>(n);
        return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
    }

    int shift_ = 0;
    std::vector<std::complex<double>> coarse_;
    std::vector<std::complex<double>> fine_;
};

/// One bin of the transform, as the definition has it: a sum over all points, in fp64.
template <class T>
std::complex<double> direct_bin(const Shape& s, const Roots& roots, const T* points,
                                const BinPick& pick, int threads) {
    const std::int64_t n = s.points;
    const auto& bin = pick.index;
    const auto terms = [&](Slice slice, std::array<Sum, 2>& sums) {
        auto at = static_cast<std::int64_t>(slice.first);
        const auto last = static_cast<std::int64_t>(slice.last);
        while (at < last) { // row by row; all dimensions share one n, so their phases add up
            const std::int64_t row = at / n;
            std::int64_t column = at % n;
            std::int64_t phase = (bin[0] * (row / n % n) % n + bin[1] * (row % n) % n) % n;
            phase = (phase + bin[2] * column % n) % n;
            for (; column < n && at < last; ++column, ++at) {
                const auto w = roots.at(phase);
                phase = phase + bin[2] < n ? phase + bin[2] : phase + bin[2] - n;
                if (s.type == Type::r2c) {
                    const auto x = static_cast<double>(points[at]);
                    sums[0].add(x * w.real());
                    sums[1].add(x * w.imag());
                } else {
                    const auto x = static_cast<double>(points[2 * at]);
                    const auto y = static_cast<double>(points[2 * at + 1]);
                    sums[0].add(x * w.real() - y * w.imag());
                    sums[1].add(x * w.imag() + y * w.real());
                }
            }
        }
    };
    const auto [re, im] = sums_over<2>(static_cast<std::size_t>(s.volume()), threads, terms);
    return {re, im};
}

/// Inputs, outputs and what the outputs became on the way back; all transforms of the batch.
template <class T>
struct Transformed {
    const T* points;
    const T* bins;     ///< complex: two numbers each
    const T* returned; ///< in the place of the bins: rows of 2 row() numbers, N times too large
};

template <class T>
class TransformCheck {
public:
    TransformCheck(const Shape& shape, Transformed<T> data, int threads)
        : s_{shape}, data_{data}, threads_{threads} {}

    Check check() const {
        // Many small transforms are shared out among the threads, few large ones each split.
        const std::int64_t shares = s_.batch < std::int64_t{8} * threads_ ? threads_ : 1;
        const auto batch = static_cast<std::size_t>(s_.batch);
        std::vector<Squares> squares(batch * static_cast<std::size_t>(shares));
        std::vector<double> errors(3 * batch);
        std::vector<double> norms(batch);
        on_each(squares.size(), ShareOfSquares<T, T>{Sizes{s_}, shares, data_.points, data_.bins,
                                                     data_.returned, squares.data()});
        on_each(batch, ErrorsOfTransform{shares, static_cast<double>(s_.volume()), squares.data(),
                                         errors.data(), norms.data()});
        const auto largest = std::ranges::max_element(errors, {}, assay::detail::orderable);
        const auto place = static_cast<std::size_t>(largest - errors.begin());
        double error = assay::detail::orderable(*largest);
        std::string what = joined(transform_errors[place % 3], " of transform ", place / 3);
        const Roots roots{s_.points};
        for (std::uint64_t i = 0; i < bins_picked; ++i) {
            const BinPick pick = pick_bin(s_, i);
            const double off = assay::detail::orderable(
                error_of_bin(roots, pick) /
                std::sqrt(norms[static_cast<std::size_t>(pick.transform)]));
            if (!(off > error)) continue;
            error = off;
            what = joined("a bin of transform ", pick.transform);
        }
        const double bound = transform_bound<T>(s_);
        return check_value(error, bound,
                           "every transform: inverse by an estimated plan, Parseval's theorem, "
                           "symmetry of real spectra; four bins by their definition; relative to "
                           "the norm, bound 8 u sqrt(log2(N)+2)",
                           joined(what, " is off by ", error, ", allowed is ", bound));
    }
    /// Euclidean norm of one transform's bins, as the points have it.
    double norm_of_bins(std::int64_t transform) const {
        std::vector<double> parts(static_cast<std::size_t>(threads_));
        on_each(parts.size(), ShareOfNorm<T>{data_.points + transform * s_.inputs(), s_.inputs(),
                                             threads_, parts.data()});
        Sum norm;
        for (const double part : parts) norm.add(part);
        return std::sqrt(norm.value() * static_cast<double>(s_.volume()));
    }

private:
    template <class Body>
    void on_each(std::size_t count, const Body& body) const {
        on_each_slice(threads_, count, 1, [&](Slice slice) {
            for (std::size_t i = slice.first; i < slice.last; ++i) body(i);
        });
    }
    double error_of_bin(const Roots& roots, const BinPick& pick) const {
        const auto expected =
            direct_bin(s_, roots, data_.points + pick.transform * s_.inputs(), pick, threads_);
        const T* const got = data_.bins + 2 * place_of(pick, s_);
        return std::hypot(static_cast<double>(got[0]) - expected.real(),
                          static_cast<double>(got[1]) - expected.imag());
    }

    Shape s_;
    Transformed<T> data_;
    int threads_;
};

} // namespace assay::fft
