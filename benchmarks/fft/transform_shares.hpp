// SPDX-License-Identifier: Apache-2.0
//
// The check of transform_check.hpp as a device does it: the sums over each transform are cut into shares, one
// thread each. Plain functions, which a unit test on the host runs for every thread.

#pragma once

#include "transform_sums.hpp"

#include <assay/random.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numbers>
#include <type_traits>

namespace assay::fft {

inline constexpr std::uint64_t points_seed = 9;

ASSAY_HOST_DEVICE inline double as_double(double x) { return x; }
ASSAY_HOST_DEVICE inline double as_double(float x) { return static_cast<double>(x); }
ASSAY_HOST_DEVICE inline double as_double(Half x) { return static_cast<double>(to_float(x)); }

/// Uniform between -1 and 1, the data of hosts; of half precision the nearest.
template <class T>
struct FillPoints {
    T* to;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        if constexpr (std::is_same_v<T, Half>)
            to[i] = to_half(random_uniform<float>(points_seed, i, -1.0F, 1.0F));
        else
            to[i] = random_uniform<T>(points_seed, i, T{-1}, T{1});
    }
};

/// The bins in the precision of the way back.
template <class T, class Back>
struct CopyBins {
    const T* from;
    Back* to;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        to[i] = static_cast<Back>(as_double(from[i]));
    }
};

/// Sizes of a shape, where a device can read them.
struct Sizes {
    std::int64_t points; ///< along each dimension
    std::int64_t volume;
    std::int64_t row; ///< bins in a row
    std::int64_t bins;
    std::int64_t rows;
    std::int64_t inputs;
    bool is_real;

    explicit Sizes(const Shape& s)
        : points{s.points}, volume{s.volume()}, row{s.row()}, bins{s.bins()}, rows{s.rows()},
          inputs{s.inputs()}, is_real{s.type == Type::r2c} {}
};

/// Shares of each transform: enough threads for a device, and each with some work.
inline std::int64_t shares_of(const Shape& s) {
    constexpr std::int64_t threads = 1 << 18U;
    constexpr std::int64_t most = 1 << 13U;
    const std::int64_t useful = std::max<std::int64_t>(s.bins() / 16, 1);
    return std::min({std::max<std::int64_t>(threads / s.batch, 1), most, useful});
}

/// Squares of one transform, added up by one thread or all.
struct Squares {
    double points;    ///< the norm of what went in
    double bins;      ///< of what came out, all of the spectrum
    double returned;  ///< of the difference on the way back
    double asymmetry; ///< of bins that should mirror each other
};

template <class T, class Back>
struct ShareOfSquares {
    Sizes s;
    std::int64_t shares;
    const T* points;
    const T* bins;
    const Back* returned; ///< in the place of the bins, `volume` times too large
    Squares* out;         ///< by transform and share

    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        const auto transform = static_cast<std::int64_t>(i) / shares;
        const auto share = static_cast<std::int64_t>(i) % shares;
        const T* const in = points + transform * s.inputs;
        const T* const spectrum = bins + 2 * transform * s.bins;
        const Back* const back = returned + 2 * transform * s.bins;
        Sum norm;
        for (std::int64_t at = share; at < s.inputs; at += shares)
            norm.add(square(as_double(in[at])));
        Sum size;
        Sum difference;
        for (std::int64_t at = share; at < s.bins; at += shares) {
            const double square_of_bin =
                square(as_double(spectrum[2 * at])) + square(as_double(spectrum[2 * at + 1]));
            const std::int64_t column = at % s.row;
            // Real points: the bins that are not stored mirror all but the first and the middle one.
            const bool is_single = !s.is_real || column == 0 || 2 * column == s.points;
            size.add(is_single ? square_of_bin : 2 * square_of_bin);
            add_difference(in, back, at / s.row, column, difference);
        }
        Sum asymmetry;
        if (s.is_real)
            for (std::int64_t line = share; line < s.rows; line += shares)
                add_asymmetry(spectrum, line, asymmetry);
        out[i] = {norm.value(), size.value(), difference.value(), asymmetry.value()};
    }

private:
    ASSAY_HOST_DEVICE static double square(double x) { return x * x; }

    ASSAY_HOST_DEVICE void add_difference(const T* in, const Back* back, std::int64_t line,
                                          std::int64_t column, Sum& sum) const {
        const std::int64_t in_row = s.is_real ? s.points : 2 * s.points;
        const double scale = 1 / static_cast<double>(s.volume);
        for (std::int64_t at = 2 * column; at < 2 * column + 2 && at < in_row; ++at)
            sum.add(square(as_double(back[2 * line * s.row + at]) * scale -
                           as_double(in[line * in_row + at])));
    }
    /// The way back from a real transform is blind to what cannot come from real points, so the columns that mirror
    /// themselves are compared with their mirror images.
    ASSAY_HOST_DEVICE void add_asymmetry(const T* spectrum, std::int64_t line, Sum& sum) const {
        const auto mirror = [this](std::int64_t k) { return k == 0 ? 0 : s.points - k; };
        const std::int64_t other = mirror(line / s.points) * s.points + mirror(line % s.points);
        for (std::int64_t column = 0; column < s.row; column += s.row - 1) {
            if (column != 0 && 2 * column != s.points) continue;
            const T* const a = spectrum + 2 * (line * s.row + column);
            const T* const b = spectrum + 2 * (other * s.row + column);
            sum.add(square(as_double(a[0]) - as_double(b[0])) +
                    square(as_double(a[1]) + as_double(b[1])));
        }
    }
};

/// A share of the squares of some points alone.
template <class T>
struct ShareOfNorm {
    const T* points;
    std::int64_t count;
    std::int64_t shares;
    double* out;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t share) const {
        Sum norm;
        for (auto at = static_cast<std::int64_t>(share); at < count; at += shares)
            norm.add(as_double(points[at]) * as_double(points[at]));
        out[share] = norm.value();
    }
};

inline constexpr std::array<const char*, 3> transform_errors{"the inverse", "Parseval's theorem",
                                                             "the symmetry"};

/// Errors of one transform, relative to its norm, in the order of transform_errors.
struct ErrorsOfTransform {
    std::int64_t shares;
    double volume;
    const Squares* squares;
    double* errors; ///< three of each transform
    double* norms;  ///< squares of the points of each

    ASSAY_HOST_DEVICE void operator()(std::uint64_t transform) const {
        Sum points;
        Sum bins;
        Sum returned;
        Sum asymmetry;
        for (std::int64_t share = 0; share < shares; ++share) {
            const Squares& part = squares[static_cast<std::int64_t>(transform) * shares + share];
            points.add(part.points);
            bins.add(part.bins);
            returned.add(part.returned);
            asymmetry.add(part.asymmetry);
        }
        const double norm = points.value();
        norms[transform] = norm;
        errors[3 * transform] = std::sqrt(returned.value() / norm);
        // The norm's error, not that of its square.
        errors[3 * transform + 1] = (bins.value() / norm / volume - 1) / 2;
        errors[3 * transform + 2] = std::sqrt(asymmetry.value() / norm / volume);
    }
};

/// A bin that is compared with the sum that defines it.
struct BinPick {
    std::int64_t transform;
    std::int64_t index[3]; ///< unused dimensions come first and are 0
};
inline constexpr std::uint64_t bins_picked = 4;

inline BinPick pick_bin(const Shape& s, std::uint64_t pick) {
    constexpr std::uint64_t seed = 11;
    const auto draw = [&](std::uint64_t which, std::int64_t below) {
        return static_cast<std::int64_t>(random_bits(seed, 4 * pick + which) %
                                         static_cast<std::uint64_t>(below));
    };
    return {draw(0, s.batch),
            {s.dimensions > 2 ? draw(1, s.points) : 0, s.dimensions > 1 ? draw(2, s.points) : 0,
             draw(3, s.row())}};
}

struct Complex {
    double re;
    double im;
};

/// exp(-2 pi i m / n) for m below n.
ASSAY_HOST_DEVICE inline Complex root_of_one(std::int64_t m, std::int64_t n) {
    const std::int64_t nearest = 2 * m > n ? m - n : m; // a small angle has a small error
    const double turns = 2 * static_cast<double>(nearest) / static_cast<double>(n);
#ifdef ASSAY_ON_DEVICE
    double sine = 0;
    double cosine = 0;
    sincospi(turns, &sine, &cosine);
    return {cosine, -sine};
#else
    return {std::cos(std::numbers::pi * turns), -std::sin(std::numbers::pi * turns)};
#endif
}

/// One thread's share of the sum that defines a bin, over all points of its transform.
template <class T>
struct ShareOfBin {
    Sizes s;
    std::int64_t shares;
    BinPick pick;
    const T* points;
    Complex* out; ///< by share

    ASSAY_HOST_DEVICE void operator()(std::uint64_t share) const {
        const T* const in = points + pick.transform * s.inputs;
        Sum re;
        Sum im;
        for (auto at = static_cast<std::int64_t>(share); at < s.volume; at += shares) {
            const Complex w = root_of_one(phase_of(at), s.points);
            if (s.is_real) {
                const double x = as_double(in[at]);
                re.add(x * w.re);
                im.add(x * w.im);
            } else {
                const double x = as_double(in[2 * at]);
                const double y = as_double(in[2 * at + 1]);
                re.add(x * w.re - y * w.im);
                im.add(x * w.im + y * w.re);
            }
        }
        out[share] = {re.value(), im.value()};
    }

private:
    /// All dimensions share one n, so their phases add up. Products of two indices fit: n <= 2^31.
    ASSAY_HOST_DEVICE std::int64_t phase_of(std::int64_t at) const {
        const std::int64_t n = s.points;
        const std::int64_t row = at / n;
        return (pick.index[0] * (row / n % n) % n + pick.index[1] * (row % n) % n +
                pick.index[2] * (at % n) % n) %
               n;
    }
};

/// Where that bin lies among all bins.
inline std::int64_t place_of(const BinPick& pick, const Shape& s) {
    return pick.transform * s.bins() + (pick.index[0] * s.points + pick.index[1]) * s.row() +
           pick.index[2];
}

} // namespace assay::fft
