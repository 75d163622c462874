// SPDX-License-Identifier: Apache-2.0
#include "device/worst.cuh"
#include "fft/device_transform_kernels.hpp"
#include "fft/transform_shares.hpp"

namespace assay::fft {
namespace {

struct ReadError {
    const double* errors;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const { return errors[i]; }
};

struct Found {
    double error = -1;
    std::string what;
};

/// How far a bin is from the sum that defines it. A bin is a sum over all points: its size is their norm.
template <class T>
double error_of_bin(const Shape& shape, const BinPick& pick, const device::Buffer<T>& points,
                    const device::Buffer<T>& bins, double norm, const device::Stream& stream) {
    const std::int64_t shares = std::min<std::int64_t>(shape.volume(), 1 << 14U);
    const device::Buffer<Complex> parts{static_cast<std::size_t>(shares)};
    device::on_each(stream, parts.size(),
                    ShareOfBin<T>{Sizes{shape}, shares, pick, points.data(), parts.data()});
    device::check_launches();
    Sum re;
    Sum im;
    for (const Complex& part : device::to_host(parts, stream)) {
        re.add(part.re);
        im.add(part.im);
    }
    const auto got = device::to_host(bins.data() + 2 * place_of(pick, shape), 2, stream);
    return std::hypot(as_double(got[0]) - re.value(), as_double(got[1]) - im.value()) /
           std::sqrt(norm);
}

} // namespace

template <class T, class Back>
void TransformWork<T, Back>::fill(const device::Buffer<T>& points, const device::Stream& stream) {
    device::on_each(stream, points.size(), FillPoints<T>{points.data()});
    device::check_launches();
}

template <class T, class Back>
void TransformWork<T, Back>::copy_bins(const device::Buffer<T>& bins,
                                       const device::Buffer<Back>& returned,
                                       const device::Stream& stream) {
    device::on_each(stream, bins.size(), CopyBins<T, Back>{bins.data(), returned.data()});
    device::check_launches();
}

template <class T, class Back>
double TransformWork<T, Back>::norm_of_bins(const Shape& shape, const device::Buffer<T>& points,
                                            std::int64_t transform, const device::Stream& stream) {
    const device::Buffer<double> parts{1U << 13U};
    const auto shares = static_cast<std::int64_t>(parts.size());
    device::on_each(stream, parts.size(),
                    ShareOfNorm<T>{points.data() + transform * shape.inputs(), shape.inputs(),
                                   shares, parts.data()});
    device::check_launches();
    Sum norm;
    for (const double part : device::to_host(parts, stream)) norm.add(part);
    return std::sqrt(norm.value() * static_cast<double>(shape.volume()));
}

template <class T, class Back>
Check TransformWork<T, Back>::check(const Shape& shape, const device::Buffer<T>& points,
                                    const device::Buffer<T>& bins,
                                    const device::Buffer<Back>& returned,
                                    const device::Stream& stream) {
    const auto batch = static_cast<std::size_t>(shape.batch);
    const std::int64_t shares = shares_of(shape);
    const device::Buffer<Squares> squares{batch * static_cast<std::size_t>(shares)};
    const device::Buffer<double> errors{3 * batch};
    const device::Buffer<double> norms{batch};
    device::on_each(stream, squares.size(),
                    ShareOfSquares<T, Back>{Sizes{shape}, shares, points.data(), bins.data(),
                                            returned.data(), squares.data()});
    device::on_each(stream, batch,
                    ErrorsOfTransform{shares, static_cast<double>(shape.volume()), squares.data(),
                                      errors.data(), norms.data()});
    const auto worst = device::find_worst(stream, errors.size(), ReadError{errors.data()});
    Found found{worst.error,
                joined(transform_errors.at(worst.index % 3), " of transform ", worst.index / 3)};
    for (std::uint64_t i = 0; i < bins_picked; ++i) {
        const BinPick pick = pick_bin(shape, i);
        const double norm = device::to_host(norms.data() + pick.transform, 1, stream).front();
        const double error =
            assay::detail::orderable(error_of_bin(shape, pick, points, bins, norm, stream));
        if (error > found.error) found = {error, joined("a bin of transform ", pick.transform)};
    }
    const double bound = transform_bound<T>(shape);
    return check_value(found.error, bound,
                       "every transform: inverse in at least single precision, Parseval's theorem, "
                       "symmetry of real spectra; four bins by their definition; relative to the "
                       "norm, bound 8 u sqrt(log2(N)+2)",
                       joined(found.what, " is off by ", found.error, ", allowed is ", bound));
}

template struct TransformWork<double, double>;
template struct TransformWork<float, float>;
template struct TransformWork<Half, float>;

} // namespace assay::fft
