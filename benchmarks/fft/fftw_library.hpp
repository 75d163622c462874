// SPDX-License-Identifier: Apache-2.0
//
// FFTW's two libraries under one name, Fftw<double> and Fftw<float>, and a plan that destroys itself.
// The planner is one per process and precision, with settings and wisdom that outlive a plan: whoever
// plans says all of them again.

#pragma once

#include "shape.hpp"

#include <fftw3.h>

#include <array>
#include <cstddef>
#include <utility>

namespace assay::fft {

template <class T>
struct Fftw;

template <>
struct Fftw<double> {
    using Complex = fftw_complex;
    using RawPlan = fftw_plan;
    using Dimension = fftw_iodim64;
    static constexpr auto version = fftw_version;
    static constexpr auto start_threads = &fftw_init_threads;
    static constexpr auto use_threads = &fftw_plan_with_nthreads;
    static constexpr auto limit_time = &fftw_set_timelimit;
    static constexpr auto forget = &fftw_forget_wisdom;
    static constexpr auto import = &fftw_import_wisdom_from_string;
    static constexpr auto export_text = &fftw_export_wisdom_to_string;
    static constexpr auto release = &fftw_free;
    static constexpr auto plan_complex = &fftw_plan_guru64_dft;
    static constexpr auto plan_from_real = &fftw_plan_guru64_dft_r2c;
    static constexpr auto plan_to_real = &fftw_plan_guru64_dft_c2r;
    static constexpr auto execute = &fftw_execute;
    static constexpr auto destroy = &fftw_destroy_plan;
};

template <>
struct Fftw<float> {
    using Complex = fftwf_complex;
    using RawPlan = fftwf_plan;
    using Dimension = fftwf_iodim64;
    static constexpr auto version = fftwf_version;
    static constexpr auto start_threads = &fftwf_init_threads;
    static constexpr auto use_threads = &fftwf_plan_with_nthreads;
    static constexpr auto limit_time = &fftwf_set_timelimit;
    static constexpr auto forget = &fftwf_forget_wisdom;
    static constexpr auto import = &fftwf_import_wisdom_from_string;
    static constexpr auto export_text = &fftwf_export_wisdom_to_string;
    static constexpr auto release = &fftwf_free;
    static constexpr auto plan_complex = &fftwf_plan_guru64_dft;
    static constexpr auto plan_from_real = &fftwf_plan_guru64_dft_r2c;
    static constexpr auto plan_to_real = &fftwf_plan_guru64_dft_c2r;
    static constexpr auto execute = &fftwf_execute;
    static constexpr auto destroy = &fftwf_destroy_plan;
};

/// A transform that is ready to be executed, or none.
template <class T>
class Plan {
public:
    Plan() = default;
    explicit Plan(typename Fftw<T>::RawPlan plan) : plan_{plan} {}
    Plan(Plan&& other) noexcept : plan_{std::exchange(other.plan_, nullptr)} {}
    Plan& operator=(Plan&& other) noexcept {
        std::swap(plan_, other.plan_);
        return *this;
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
    ~Plan() {
        if (plan_ != nullptr) Fftw<T>::destroy(plan_);
    }
    explicit operator bool() const { return plan_ != nullptr; }
    void execute() const noexcept { Fftw<T>::execute(plan_); }

private:
    typename Fftw<T>::RawPlan plan_ = nullptr;
};

/// A shape in FFTW's terms: length and strides of each dimension, and of the batch.
template <class T>
class Layout {
public:
    using Dimension = typename Fftw<T>::Dimension;

    /// `in_row`, `out_row`: elements from one row to the next.
    Layout(const Shape& shape, std::int64_t in_row, std::int64_t out_row)
        : dimensions_{static_cast<int>(shape.dimensions)},
          batch_{.n = shape.batch, .is = shape.rows() * in_row, .os = shape.rows() * out_row} {
        std::int64_t rows = 1; // from one index to the next, of the dimension before the last
        const auto last = static_cast<std::size_t>(shape.dimensions - 1);
        each_.at(last) = {.n = shape.points, .is = 1, .os = 1};
        for (std::size_t d = last; d-- > 0; rows *= shape.points)
            each_.at(d) = {.n = shape.points, .is = rows * in_row, .os = rows * out_row};
    }
    int dimensions() const { return dimensions_; }
    const Dimension* each() const { return each_.data(); }
    const Dimension* batch() const { return &batch_; }

private:
    int dimensions_;
    std::array<Dimension, 3> each_{};
    Dimension batch_;
};

/// `in` holds the real or complex points, `out` the bins. Neither is changed by executing.
template <class T>
Plan<T> plan_forward(const Shape& s, T* in, typename Fftw<T>::Complex* out, unsigned flags) {
    using F = Fftw<T>;
    const Layout<T> layout{s, s.points, s.row()};
    if (s.type == Type::r2c)
        return Plan<T>{F::plan_from_real(layout.dimensions(), layout.each(), 1, layout.batch(), in,
                                         out, flags)};
    return Plan<T>{F::plan_complex(layout.dimensions(), layout.each(), 1, layout.batch(),
                                   reinterpret_cast<typename F::Complex*>(in), out, FFTW_FORWARD,
                                   flags)};
}

/// From bins back to points in the same place, not divided by their number. Rows of real points keep
/// the length of the rows of bins: 2 row() numbers, of which the last one or two mean nothing.
template <class T>
Plan<T> plan_backward(const Shape& s, typename Fftw<T>::Complex* data) {
    using F = Fftw<T>;
    const std::int64_t back = s.type == Type::r2c ? 2 * s.row() : s.row();
    const Layout<T> layout{s, s.row(), back};
    if (s.type == Type::r2c)
        return Plan<T>{F::plan_to_real(layout.dimensions(), layout.each(), 1, layout.batch(), data,
                                       reinterpret_cast<T*>(data), FFTW_ESTIMATE)};
    return Plan<T>{F::plan_complex(layout.dimensions(), layout.each(), 1, layout.batch(), data,
                                   data, FFTW_BACKWARD, FFTW_ESTIMATE)};
}

} // namespace assay::fft
