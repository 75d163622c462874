// SPDX-License-Identifier: Apache-2.0
//
// What a training step stores, and what each number must be, from what the stages before have stored.

#pragma once

#include "../gemm/device_precision.hpp"
#include "../workload/stages.hpp"
#include "training.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace assay::model::training {

using workload::Expected;
using workload::head_size;

/// Numbers of a stage in bf16 or fp32, as Stages wants them.
class Stored {
public:
    Stored() = default;
    Stored(const Stored&) = delete;
    Stored& operator=(const Stored&) = delete;
    virtual ~Stored() = default;
    virtual std::size_t size() const = 0;
    virtual float element(std::size_t i) const = 0;
    /// Every `stride`th number from `first` on.
    virtual std::vector<float> column(std::size_t first, std::size_t stride) const = 0;
    virtual void change(Slice elements, const std::function<float(float)>& change) const = 0;
    virtual Output output() const = 0;
    virtual void poison() const = 0;
    virtual void look_again() const = 0;
};

/// Error of a sum in matrix units, in units of its size.
inline double lost(std::size_t products) {
    return gemm::tolerance_of(gemm::DevicePrecision::bf16, gemm::Accumulation::exact,
                              static_cast<std::int64_t>(products))
        .absolute;
}
/// A bound of zero would make an error of 0 / 0.
inline Expected with_room(const Expected& expected) {
    return {expected.value, expected.allowed + 1e-30};
}
/// A product, stored in bf16.
template <class In, class Weight>
Expected expect_sum(std::size_t terms, In&& in, Weight&& weight, double bias, double added) {
    return with_room(workload::expect_stored(
        workload::expect_product(terms, in, weight, bias, lost(terms)), Precision::bf16, added));
}
/// A sum over tokens, in fp32.
inline Expected expect_over_tokens(const std::vector<float>& a, const std::vector<float>& b,
                                   double lost_of_sum) {
    return with_room(workload::expect_product(
        a.size(), [&](auto i) { return a[i]; }, [&](auto i) { return b.empty() ? 1.0F : b[i]; }, 0,
        lost_of_sum));
}

// --- norms ---------------------------------------------------------------------------------------------

/// Mean of a row, or 1 / deviation.
inline Expected expect_statistic(const Stored& rows, std::size_t width, std::size_t row,
                                 bool is_mean) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) sum += double{rows.element(row * width + i)};
    const double mean = sum / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
        squares += std::pow(double{rows.element(row * width + i)} - mean, 2);
    const double variance = squares / static_cast<double>(width);
    constexpr double few = 16 * 0x1p-24;
    const double factor = 1 / std::sqrt(variance + workload::norm_epsilon);
    return is_mean ? Expected{mean, few * std::sqrt(variance + mean * mean) + 1e-30}
                   : Expected{factor, few * factor * (1 + mean * mean * factor * factor)};
}

// --- attention -----------------------------------------------------------------------------------------

/// One layer's, from what it has stored: rows of tokens, and sums [sequence][head][token].
struct AttentionStages {
    const TrainingShape& shape;
    const Stored& qkv;
    const Stored& logarithms;
    // For gradients alone:
    const Stored* results = nullptr;
    const Stored* of = nullptr; ///< gradients of results
    const Stored* along = nullptr;

    Expected result(std::size_t at) const {
        const Head head = of_column(at / hidden(), at % hidden());
        const workload::AttentionReference reference{
            last(head.token), head_size,
            [&](auto d) { return workload::score_scale * part(head, 0, head.token, d); },
            [&](auto j, auto d) { return part(head, 1, j, d); }};
        return with_room(
            reference.expect({Precision::fp32, 0x1p-9, workload::roundoff_of(Precision::bf16)},
                             [&](auto j) { return part(head, 2, j, at % head_size); }));
    }
    Expected logarithm(std::size_t at) const {
        const Head head = of_sum(at);
        double total = 0;
        double allowed = 0;
        for (std::size_t j = 0; j < last(head.token); ++j) {
            const Expected found = score(head, head.token, j);
            total += std::exp(found.value);
            allowed = std::fmax(allowed, found.allowed);
        }
        const double value = std::log(total);
        return {value, allowed + 32 * 0x1p-24 * (1 + std::fabs(value))};
    }
    Expected sum_along(std::size_t at) const {
        const Head head = of_sum(at);
        return with_room(workload::expect_product(
            head_size, [&](auto d) { return results->element(head.row(head.token) + d); },
            [&](auto d) { return of->element(head.row(head.token) + d); }, 0));
    }
    /// The gradient of a query, key or value. Weights of its sum are rounded to bf16, independently, as in
    /// AttentionReference.
    Expected gradient(std::size_t at) const {
        const std::size_t which = at % (3 * hidden()) / hidden();
        const std::size_t d = at % head_size;
        const Head head = of_column(at / (3 * hidden()), at % hidden());
        const bool is_query = which == 0;
        const std::size_t begin = !is_query && shape.is_causal ? head.token : 0;
        const std::size_t end = is_query ? last(head.token) : length();
        double sum = 0;
        double products = 0;
        double errors = 0;
        for (std::size_t other = begin; other < end; ++other) {
            const std::size_t i = is_query ? head.token : other;
            const std::size_t j = is_query ? other : head.token;
            const Expected weight = which == 2 ? probability(head, i, j) : of_score(head, i, j);
            const double number = which == 2
                                      ? double{of->element(head.row(i) + d)}
                                      : workload::score_scale *
                                            (is_query ? part(head, 1, j, d) : part(head, 0, i, d));
            sum += weight.value * number;
            products += std::pow(weight.value * number, 2);
            errors += std::pow(number * std::hypot(0x1p-9 * weight.value, weight.allowed), 2);
        }
        const double size = std::sqrt(products);
        return with_room(
            {sum, 4 * std::sqrt(errors) +
                      workload::allowed_error(Precision::bf16, static_cast<double>(end - begin),
                                              size, sum) +
                      lost(end - begin) * std::hypot(size, sum)});
    }

private:
    /// A head of a sequence, and a token in it.
    struct Head {
        std::size_t first; ///< token of the sequence
        std::size_t column;
        std::size_t sums; ///< where its sums begin
        std::size_t token;
        std::size_t hidden;
        std::size_t row(std::size_t of) const { return (first + of) * hidden + column; }
    };
    std::size_t hidden() const { return static_cast<std::size_t>(shape.hidden); }
    std::size_t length() const { return static_cast<std::size_t>(shape.sequence); }
    std::size_t last(std::size_t query) const { return shape.is_causal ? query + 1 : length(); }
    Head of_column(std::size_t token, std::size_t column) const {
        const std::size_t head = token / length() * (hidden() / head_size) + column / head_size;
        return of_sum(head * length() + token % length());
    }
    Head of_sum(std::size_t at) const {
        const std::size_t head = at / length();
        const std::size_t heads = hidden() / head_size;
        return {head / heads * length(), head % heads * head_size, head * length(), at % length(),
                hidden()};
    }
    /// Number d of a query, key or value.
    double part(const Head& head, std::size_t which, std::size_t token, std::size_t d) const {
        return qkv.element(((head.first + token) * 3 + which) * hidden() + head.column + d);
    }
    Expected score(const Head& head, std::size_t i, std::size_t j) const {
        return workload::expect_product(
            head_size, [&](auto d) { return workload::score_scale * part(head, 0, i, d); },
            [&](auto d) { return part(head, 1, j, d); }, 0, lost(head_size));
    }
    Expected probability(const Head& head, std::size_t i, std::size_t j) const {
        const Expected found = score(head, i, j);
        const double logarithm = logarithms.element(head.sums + i);
        const double value = std::exp(found.value - logarithm);
        return {value,
                value * (found.allowed +
                         32 * 0x1p-24 * (1 + std::fabs(found.value) + std::fabs(logarithm)))};
    }
    Expected of_score(const Head& head, std::size_t i, std::size_t j) const {
        const Expected weight = probability(head, i, j);
        const Expected found = workload::expect_product(
            head_size, [&](auto d) { return of->element(head.row(i) + d); },
            [&](auto d) { return part(head, 2, j, d); }, 0, lost(head_size));
        const double off = along->element(head.sums + i);
        const double rounded = 4 * 0x1p-24 * (std::fabs(found.value) + std::fabs(off));
        return {weight.value * (found.value - off), weight.allowed * std::fabs(found.value - off) +
                                                        weight.value * (found.allowed + rounded)};
    }
};

// --- loss ----------------------------------------------------------------------------------------------

/// The logarithm of the sum of exp(score) over a token's row.
inline Expected expect_logarithm(const Stored& scores, std::size_t classes, std::size_t row) {
    double total = 0;
    for (std::size_t i = 0; i < classes; ++i)
        total += std::exp(double{scores.element(row * classes + i)});
    const double value = std::log(total);
    return {value, 64 * 0x1p-24 * (1 + std::fabs(value))};
}
inline Expected expect_loss_gradient(double score, double logarithm, bool is_target,
                                     double tokens) {
    const double probability = std::exp(score - logarithm);
    const double value = (probability - (is_target ? 1 : 0)) / tokens;
    return {value, workload::roundoff_of(Precision::bf16) * std::fabs(value) +
                       32 * 0x1p-24 * probability * (1 + std::fabs(score) + std::fabs(logarithm)) /
                           tokens +
                       (is_target ? 0x1p-23 / tokens : 0)};
}

// --- AdamW ---------------------------------------------------------------------------------------------

/// From the moment before the step and the clipped gradient.
inline Expected expect_first_moment(const AdamW& by, double before, double gradient) {
    const double value = double{by.first} * before + (1 - double{by.first}) * gradient;
    return {value, 8 * 0x1p-24 * (std::fabs(before) + std::fabs(gradient))};
}
inline Expected expect_second_moment(const AdamW& by, double before, double gradient) {
    const double value = double{by.second} * before + (1 - double{by.second}) * gradient * gradient;
    return {value, 8 * 0x1p-24 * (before + gradient * gradient)};
}
inline Expected expect_master(const AdamW& by, double before, double first, double second,
                              bool decays) {
    const double unbiased = first / (1 - std::pow(double{by.first}, by.step));
    const double square = second / (1 - std::pow(double{by.second}, by.step));
    const double change = unbiased / (std::sqrt(square) + double{by.epsilon});
    const double decay = decays ? double{by.decay} * before : 0;
    return {before - double{by.rate} * (change + decay),
            2 * 0x1p-24 * std::fabs(before) +
                16 * 0x1p-24 * double{by.rate} * (std::fabs(change) + std::fabs(decay))};
}

} // namespace assay::model::training
