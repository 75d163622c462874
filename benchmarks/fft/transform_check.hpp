// SPDX-License-Identifier: Apache-2.0
//
// Is this the discrete Fourier transform of that? Knows no library: the caller supplies the points
// that came back from the bins.

#pragma once

#include "transform_sums.hpp"

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

using Index = std::array<std::int64_t, 3>; ///< unused dimensions come first and are 0

/// One bin of the transform, as the definition has it: a sum over all points, in fp64.
template <class T>
std::complex<double> direct_bin(const Shape& s, const Roots& roots, const T* points, Index bin,
                                int threads) {
    const std::int64_t n = s.points;
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
        : s_{shape}, data_{data}, threads_{threads}, bound_{transform_bound<T>(shape)} {}

    Check check() const {
        constexpr const char* method =
            "every transform: inverse by an estimated plan, Parseval's theorem, symmetry of real "
            "spectra; four bins by their definition; relative to the norm, bound 8 u "
            "sqrt(log2(N)+2)";
        Worst worst = worst_transform();
        constexpr std::uint64_t bins_summed = 4;
        const Roots roots{s_.points};
        for (std::uint64_t pick = 0; pick < bins_summed; ++pick) {
            const Worst bin = deviation_of_bin(roots, pick);
            if (bin.error > worst.error) worst = bin;
        }
        return check_value(worst.error, bound_, method,
                           joined(worst.what, " of transform ", worst.transform, " is off by ",
                                  worst.error, ", allowed is ", bound_));
    }

    /// Euclidean norm of one transform's bins, as the points have it.
    double norm_of_bins(std::int64_t transform) const {
        return std::sqrt(energy(transform, threads_) * static_cast<double>(s_.volume()));
    }

private:
    struct Worst {
        double error = -1;
        std::int64_t transform = 0;
        const char* what = "";
    };

    double energy(std::int64_t transform, int threads) const {
        const T* const points = data_.points + transform * s_.inputs();
        const auto terms = [&](Slice slice, std::array<Sum, 1>& sums) {
            for (std::size_t i = slice.first; i < slice.last; ++i)
                sums[0].add(square(static_cast<double>(points[i])));
        };
        return sums_over<1>(static_cast<std::size_t>(s_.inputs()), threads, terms)[0];
    }

    /// Many small transforms are shared out among the threads, few large ones each split.
    Worst worst_transform() const {
        const auto batch = static_cast<std::size_t>(s_.batch);
        const auto some = [&](Slice slice, int threads) {
            Worst worst;
            for (std::size_t i = slice.first; i < slice.last; ++i) {
                const Worst one = deviation_of(static_cast<std::int64_t>(i), threads);
                if (one.error > worst.error) worst = one;
            }
            return worst;
        };
        if (batch < 8 * static_cast<std::size_t>(threads_))
            return some({.first = 0, .last = batch}, threads_);
        std::vector<Worst> found(static_cast<std::size_t>(threads_));
        on_each_thread(threads_, [&](std::size_t thread, std::size_t team) {
            found[thread] = some(slice_of(batch, thread, team), 1);
        });
        return *std::ranges::max_element(found, {}, &Worst::error);
    }

    Worst deviation_of(std::int64_t transform, int threads) const {
        const auto points = static_cast<double>(s_.volume());
        const double norm = energy(transform, threads);
        const auto [spectrum, back] = energies(transform, threads);
        const std::array<Worst, 3> all{
            Worst{.error = off(std::sqrt(back / norm)), .what = "the inverse"},
            // The norm's error, not that of its square.
            Worst{.error = off((spectrum / norm / points - 1) / 2), .what = "Parseval's theorem"},
            Worst{.error = off(std::sqrt(asymmetry(transform, threads) / norm / points)),
                  .what = "the symmetry"}};
        Worst worst = *std::ranges::max_element(all, {}, &Worst::error);
        worst.transform = transform;
        return worst;
    }

    /// Of the bins; and of the difference between the points and those that came back.
    std::array<double, 2> energies(std::int64_t transform, int threads) const {
        const bool is_real = s_.type == Type::r2c;
        const std::int64_t row = s_.row();
        const std::int64_t in_row = is_real ? s_.points : 2 * s_.points;
        const T* const points = data_.points + transform * s_.inputs();
        const T* const bins = data_.bins + 2 * transform * s_.bins();
        const T* const returned = data_.returned + 2 * transform * s_.bins();
        const double scale = 1 / static_cast<double>(s_.volume());
        const auto terms = [&](Slice slice, std::array<Sum, 2>& sums) {
            // Real points: the bins that are not stored mirror all but the first and the middle one.
            std::int64_t column = static_cast<std::int64_t>(slice.first) % row;
            std::int64_t line = static_cast<std::int64_t>(slice.first) / row;
            for (std::size_t i = slice.first; i < slice.last; ++i) {
                const bool is_single = !is_real || column == 0 || 2 * column == s_.points;
                const double size = square(static_cast<double>(bins[2 * i])) +
                                    square(static_cast<double>(bins[2 * i + 1]));
                sums[0].add(is_single ? size : 2 * size);
                for (std::int64_t part = 0; part < 2; ++part) {
                    const std::int64_t at = 2 * column + part;
                    if (at >= in_row) continue;
                    const auto back = static_cast<double>(returned[2 * line * row + at]) * scale;
                    sums[1].add(square(back - static_cast<double>(points[line * in_row + at])));
                }
                if (++column < row) continue;
                column = 0;
                ++line;
            }
        };
        return sums_over<2>(static_cast<std::size_t>(s_.bins()), threads, terms);
    }

    /// The way back from a real transform is blind to what cannot come from real points, so the
    /// columns that mirror themselves are held against their mirror images.
    double asymmetry(std::int64_t transform, int threads) const {
        if (s_.type == Type::c2c) return 0;
        const std::int64_t row = s_.row();
        const T* const bins = data_.bins + 2 * transform * s_.bins();
        const auto mirror = [n = s_.points](std::int64_t k) { return k == 0 ? 0 : n - k; };
        const auto terms = [&](Slice slice, std::array<Sum, 1>& sums) {
            for (auto line = static_cast<std::int64_t>(slice.first);
                 line < static_cast<std::int64_t>(slice.last); ++line) {
                const std::int64_t n = s_.points;
                const std::int64_t other = mirror(line / n) * n + mirror(line % n);
                for (std::int64_t column = 0; column < row; column += row - 1) {
                    if (column != 0 && 2 * column != n) continue;
                    const T* const a = bins + 2 * (line * row + column);
                    const T* const b = bins + 2 * (other * row + column);
                    sums[0].add(square(static_cast<double>(a[0]) - static_cast<double>(b[0])) +
                                square(static_cast<double>(a[1]) + static_cast<double>(b[1])));
                }
            }
        };
        return sums_over<1>(static_cast<std::size_t>(s_.rows()), threads, terms)[0];
    }

    Worst deviation_of_bin(const Roots& roots, std::uint64_t pick) const {
        constexpr std::uint64_t seed = 11;
        const auto draw = [&](std::uint64_t which, std::int64_t below) {
            return static_cast<std::int64_t>(random_bits(seed, 4 * pick + which) %
                                             static_cast<std::uint64_t>(below));
        };
        const std::int64_t transform = draw(0, s_.batch);
        const Index bin{s_.dimensions > 2 ? draw(1, s_.points) : 0,
                        s_.dimensions > 1 ? draw(2, s_.points) : 0, draw(3, s_.row())};
        const auto expected =
            direct_bin(s_, roots, data_.points + transform * s_.inputs(), bin, threads_);
        const T* const got = data_.bins + 2 * (transform * s_.bins() +
                                               (bin[0] * s_.points + bin[1]) * s_.row() + bin[2]);
        // A bin is a sum over all points: its size is their norm.
        const double error = std::hypot(static_cast<double>(got[0]) - expected.real(),
                                        static_cast<double>(got[1]) - expected.imag());
        return {.error = off(error / std::sqrt(energy(transform, threads_))),
                .transform = transform,
                .what = "a bin"};
    }

    static double square(double x) { return x * x; }
    static double off(double error) { return assay::detail::orderable(error); }

    Shape s_;
    Transformed<T> data_;
    int threads_;
    double bound_;
};

} // namespace assay::fft
